// Embeds the page of `stowtool view`. A resource of SwiftPM would be a literal of numbers, which takes a minute to compile.

#include "CViewerPage.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char page[] = {
#embed "../../Readers/page/index.html"
};

const unsigned char *stow_viewer_page(size_t *size) {
  *size = sizeof page;
  return page;
}
