// What Swift adds to the headers of Darwin: functions that take a variable number of arguments in C, and macros that
// are more than numbers.

// swift-format-ignore-file: AlwaysUseLowerCamelCase

@_exported import Darwin

public var errno: Int32 {
  get { __error().pointee }
  set { __error().pointee = newValue }
}

public func open(_ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32 { -1 }
public func open(_ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t) -> Int32 { -1 }

public func fcntl(_ descriptor: Int32, _ command: Int32) -> Int32 { -1 }
public func fcntl(_ descriptor: Int32, _ command: Int32, _ value: Int32) -> Int32 { -1 }
public func fcntl(_ descriptor: Int32, _ command: Int32, _ pointer: UnsafeMutableRawPointer) -> Int32 { -1 }

public func ioctl(_ descriptor: CInt, _ request: UInt) -> CInt { -1 }
public func ioctl(_ descriptor: CInt, _ request: UInt, _ value: CInt) -> CInt { -1 }
public func ioctl(_ descriptor: CInt, _ request: UInt, _ pointer: UnsafeMutableRawPointer) -> CInt { -1 }

public var TIOCGWINSZ: UInt { 0x4008_7468 }

public var S_IFMT: mode_t { 0o170000 }
public var S_IFIFO: mode_t { 0o010000 }
public var S_IFDIR: mode_t { 0o040000 }
public var S_IFREG: mode_t { 0o100000 }
public var S_IFLNK: mode_t { 0o120000 }

public var SIG_DFL: sig_t? { nil }
public var SIG_IGN: sig_t { unsafeBitCast(1, to: sig_t.self) }

public var MAP_FAILED: UnsafeMutableRawPointer! { UnsafeMutableRawPointer(bitPattern: -1) }
