// The part of Darwin that the package may use, as Apple's manual pages and headers describe it. Types have the widths that they
// have there. Pointers without a word on null become implicitly unwrapped optionals in Swift, as there.

#pragma once
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

// sys/types.h
typedef int32_t pid_t;
typedef uint32_t uid_t;
typedef uint32_t gid_t;
typedef uint16_t mode_t;
typedef uint16_t nlink_t;
typedef int32_t dev_t;
typedef uint64_t ino_t;
typedef int64_t off_t;
typedef int64_t blkcnt_t;
typedef int32_t blksize_t;
typedef long ssize_t;
typedef long time_t;
typedef unsigned long clock_t;
typedef int32_t suseconds_t;
typedef uint32_t useconds_t;

// errno.h
int *__error(void);
#define EPERM 1
#define ENOENT 2
#define ESRCH 3
#define EINTR 4
#define EIO 5
#define ENXIO 6
#define EBADF 9
#define ECHILD 10
#define ENOMEM 12
#define EACCES 13
#define EBUSY 16
#define EEXIST 17
#define EXDEV 18
#define ENOTDIR 20
#define EISDIR 21
#define EINVAL 22
#define EMFILE 24
#define ENOTTY 25
#define EFBIG 27
#define ENOSPC 28
#define ESPIPE 29
#define EROFS 30
#define EMLINK 31
#define EPIPE 32
#define ERANGE 34
#define EAGAIN 35
#define EWOULDBLOCK EAGAIN
#define ENOTSUP 45
#define ELOOP 62
#define ENAMETOOLONG 63
#define ENOTEMPTY 66
#define EDQUOT 69
#define ESTALE 70
#define ENOLCK 77
#define ENOSYS 78
#define EOPNOTSUPP 102

// time.h, sys/time.h
struct timespec {
  time_t tv_sec;
  long tv_nsec;
};
struct timeval {
  time_t tv_sec;
  suseconds_t tv_usec;
};
struct timezone {
  int tz_minuteswest;
  int tz_dsttime;
};
typedef enum {
  CLOCK_REALTIME = 0,
  CLOCK_MONOTONIC_RAW = 4,
  CLOCK_MONOTONIC = 6,
  CLOCK_UPTIME_RAW = 8,
  CLOCK_PROCESS_CPUTIME_ID = 12,
  CLOCK_THREAD_CPUTIME_ID = 16
} clockid_t;
#define CLOCKS_PER_SEC ((clock_t)1000000)
clock_t clock(void);
time_t time(time_t *);
int clock_gettime(clockid_t clock, struct timespec *time);
int nanosleep(const struct timespec *, struct timespec *);
int gettimeofday(struct timeval *, void *);
int utimes(const char *path, const struct timeval *times);

// sys/stat.h
struct stat {
  dev_t st_dev;
  mode_t st_mode;
  nlink_t st_nlink;
  ino_t st_ino;
  uid_t st_uid;
  gid_t st_gid;
  dev_t st_rdev;
  struct timespec st_atimespec;
  struct timespec st_mtimespec;
  struct timespec st_ctimespec;
  struct timespec st_birthtimespec;
  off_t st_size;
  blkcnt_t st_blocks;
  blksize_t st_blksize;
  uint32_t st_flags;
  uint32_t st_gen;
  int32_t st_lspare;
  int64_t st_qspare[2];
};
int stat(const char *, struct stat *);
int lstat(const char *, struct stat *);
int fstat(int, struct stat *);
int chmod(const char *, mode_t);
int fchmod(int, mode_t);
int mkdir(const char *, mode_t);
int mkfifo(const char *, mode_t);
mode_t umask(mode_t);

// fcntl.h, sys/file.h; `open` and `fcntl` are in Darwin.swift
#define O_RDONLY 0x0000
#define O_WRONLY 0x0001
#define O_RDWR 0x0002
#define O_NONBLOCK 0x00000004
#define O_APPEND 0x00000008
#define O_NOFOLLOW 0x00000100
#define O_CREAT 0x00000200
#define O_TRUNC 0x00000400
#define O_EXCL 0x00000800
#define O_EVTONLY 0x00008000
#define O_NOCTTY 0x00020000
#define O_DIRECTORY 0x00100000
#define O_CLOEXEC 0x01000000
#define F_DUPFD 0
#define F_GETFD 1
#define F_SETFD 2
#define F_GETFL 3
#define F_SETFL 4
#define F_NOCACHE 48
#define F_FULLFSYNC 51
#define F_DUPFD_CLOEXEC 67
#define F_BARRIERFSYNC 85
#define FD_CLOEXEC 1
#define LOCK_SH 0x01
#define LOCK_EX 0x02
#define LOCK_NB 0x04
#define LOCK_UN 0x08
int flock(int, int);

// unistd.h
#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#define SEEK_HOLE 3
#define SEEK_DATA 4
int access(const char *, int);
int chown(const char *, uid_t, gid_t);
int close(int);
int dup(int);
int dup2(int, int);
void _exit(int) __attribute__((noreturn));
int fchown(int, uid_t, gid_t);
pid_t fork(void)
    __attribute__((availability(swift, unavailable, message = "Please use threads or posix_spawn*()")));
int fsync(int);
int ftruncate(int, off_t);
gid_t getegid(void);
uid_t geteuid(void);
gid_t getgid(void);
int getpagesize(void);
pid_t getpid(void);
pid_t getppid(void);
uid_t getuid(void);
int isatty(int);
int link(const char *, const char *);
off_t lseek(int, off_t, int);
int pipe(int[2]);
ssize_t pread(int descriptor, void *buffer, size_t byteCount, off_t offset);
ssize_t pwrite(int descriptor, const void *buffer, size_t byteCount, off_t offset);
ssize_t read(int, void *, size_t);
int rmdir(const char *);
unsigned int sleep(unsigned int);
int symlink(const char *, const char *);
long sysconf(int);
int truncate(const char *, off_t);
int unlink(const char *);
int usleep(useconds_t);
ssize_t write(int descriptor, const void *buffer, size_t byteCount);
#define _SC_PAGESIZE 29
#define _SC_NPROCESSORS_ONLN 58

// dirent.h
typedef struct _dir DIR;
struct dirent {
  uint64_t d_ino;
  uint64_t d_seekoff;
  uint16_t d_reclen;
  uint16_t d_namlen;
  uint8_t d_type;
  char d_name[1024];
};
struct _dir {
  int __dd_fd;
};
DIR *opendir(const char *);
struct dirent *readdir(DIR *);
int closedir(DIR *);

// sys/mman.h
#define PROT_NONE 0x00
#define PROT_READ 0x01
#define PROT_WRITE 0x02
#define MAP_SHARED 0x0001
#define MAP_PRIVATE 0x0002
#define MAP_FIXED 0x0010
#define MAP_NORESERVE 0x0040
#define MAP_ANON 0x1000
#define MAP_ANONYMOUS MAP_ANON
#define MADV_DONTNEED 4
#define MADV_FREE 5
void *mmap(void *, size_t, int, int, int, off_t);
int mprotect(void *, size_t, int);
int munmap(void *, size_t);
int madvise(void *, size_t, int);

// sys/resource.h
typedef uint64_t rlim_t;
struct rlimit {
  rlim_t rlim_cur;
  rlim_t rlim_max;
};
struct rusage {
  struct timeval ru_utime;
  struct timeval ru_stime;
  long ru_maxrss;
  long ru_ixrss;
  long ru_idrss;
  long ru_isrss;
  long ru_minflt;
  long ru_majflt;
  long ru_nswap;
  long ru_inblock;
  long ru_oublock;
  long ru_msgsnd;
  long ru_msgrcv;
  long ru_nsignals;
  long ru_nvcsw;
  long ru_nivcsw;
};
#define RUSAGE_SELF 0
#define RUSAGE_CHILDREN -1
#define RLIMIT_FSIZE 1
#define RLIMIT_STACK 3
#define RLIMIT_CORE 4
#define RLIMIT_AS 5
#define RLIMIT_NOFILE 8
int getrlimit(int, struct rlimit *);
int setrlimit(int, const struct rlimit *);
int getrusage(int, struct rusage *);

// sys/ioctl.h; `ioctl` is in Darwin.swift
struct winsize {
  unsigned short ws_row;
  unsigned short ws_col;
  unsigned short ws_xpixel;
  unsigned short ws_ypixel;
};

// poll.h
#define POLLIN 0x0001
#define POLLOUT 0x0004
#define POLLHUP 0x0010
typedef unsigned int nfds_t;
struct pollfd {
  int fd;
  short events;
  short revents;
};
int poll(struct pollfd *, nfds_t, int);

// signal.h, sys/wait.h, spawn.h
#define SIGINT 2
#define SIGABRT 6
#define SIGKILL 9
#define SIGBUS 10
#define SIGSEGV 11
#define SIGPIPE 13
#define SIGTERM 15
#define SIGSTOP 17
#define SIGCONT 19
typedef void (*sig_t)(int);
void (*signal(int, void (*)(int)))(int);
int kill(pid_t, int);
int raise(int);
#define WNOHANG 0x00000001
pid_t waitpid(pid_t, int *, int);
typedef void *posix_spawnattr_t;
typedef void *posix_spawn_file_actions_t;
int posix_spawn(
    pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const arguments[],
    char *const environment[]);
int posix_spawnp(
    pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const arguments[],
    char *const environment[]);

// pthread.h, whose pointers are not null unless it says so
struct _opaque_pthread_t {
  long __sig;
  struct __darwin_pthread_handler_rec *__cleanup_stack;
  char __opaque[8176];
};
struct _opaque_pthread_attr_t {
  long __sig;
  char __opaque[56];
};
typedef struct _opaque_pthread_t *pthread_t;
typedef struct _opaque_pthread_attr_t pthread_attr_t;
#pragma clang assume_nonnull begin
int pthread_attr_destroy(pthread_attr_t *);
int pthread_attr_getstack(const pthread_attr_t *, void *_Nullable *_Nonnull, size_t *);
int pthread_attr_init(pthread_attr_t *);
int pthread_attr_setstacksize(pthread_attr_t *, size_t);
int pthread_create(
    pthread_t _Nullable *_Nonnull, const pthread_attr_t *_Nullable, void *_Nullable (*_Nonnull)(void *),
    void *_Nullable);
int pthread_equal(pthread_t _Nullable, pthread_t _Nullable);
void *pthread_get_stackaddr_np(pthread_t);
size_t pthread_get_stacksize_np(pthread_t);
int pthread_join(pthread_t, void *_Nullable *_Nullable);
int pthread_main_np(void);
pthread_t pthread_self(void);
int pthread_threadid_np(pthread_t _Nullable, uint64_t *_Nullable);
#pragma clang assume_nonnull end

// stdlib.h
#define EXIT_FAILURE 1
#define EXIT_SUCCESS 0
void abort(void) __attribute__((noreturn));
uint32_t arc4random(void);
void arc4random_buf(void *, size_t);
uint32_t arc4random_uniform(uint32_t);
int atexit(void (*_Nonnull)(void));
void *calloc(size_t, size_t);
void exit(int) __attribute__((noreturn));
void free(void *);
char *getenv(const char *);
void *malloc(size_t);
char *mkdtemp(char *);
void *realloc(void *, size_t);
char *realpath(const char *, char *);
int setenv(const char *name, const char *value, int overwrites);
double strtod(const char *, char **);
int unsetenv(const char *);

// malloc/malloc.h
size_t malloc_size(const void *);

// stdio.h
typedef int64_t fpos_t;
typedef struct __sFILE {
  unsigned char *_p;
  int _r;
  int _w;
} FILE;
extern FILE *__stdinp;
extern FILE *__stdoutp;
extern FILE *__stderrp;
#define stdin __stdinp
#define stdout __stdoutp
#define stderr __stderrp
#define EOF (-1)
int fclose(FILE *);
int fflush(FILE *);
char *fgets(char *, int, FILE *);
FILE *fopen(const char *name, const char *mode);
int fputs(const char *, FILE *);
size_t fread(void *data, size_t size, size_t count, FILE *);
size_t fwrite(const void *data, size_t size, size_t count, FILE *);
int rename(const char *, const char *);
int remove(const char *);
int renamex_np(const char *, const char *, unsigned int);

// string.h
void *memchr(const void *, int, size_t);
int memcmp(const void *, const void *, size_t);
void *memcpy(void *, const void *, size_t);
void *memmove(void *, const void *, size_t);
void *memset(void *, int, size_t);
int strcmp(const char *, const char *);
char *strdup(const char *);
char *strerror(int);
size_t strlen(const char *);

// dlfcn.h
#define RTLD_LAZY 0x1
#define RTLD_NOW 0x2
void *dlopen(const char *path, int mode);
void *dlsym(void *handle, const char *symbol);

// math.h
double ceil(double);
double cos(double);
double exp(double);
double floor(double);
double log(double);
double log10(double);
double log2(double);
double pow(double, double);
double round(double);
double sin(double);
double sqrt(double);
