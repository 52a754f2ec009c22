#ifndef CVIEWERPAGE_H
#define CVIEWERPAGE_H

#include <stddef.h>

/// Returns the page that shows a message, and its size in bytes.
const unsigned char *stow_viewer_page(size_t *size);

#endif
