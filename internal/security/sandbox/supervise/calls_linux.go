package supervise

import (
	"runtime"
	"syscall"
	"unsafe"
)

// numbers are system calls that package syscall does not have, or not on each
// architecture; 0 means none.
type numbers struct {
	audit                       uint32 // the architecture as filters see it
	rename, renameat, renameat2 uintptr
	seccomp, statx              uintptr
}

const numberOpenat2 = 437

// numbersOf has the numbers by the architecture of Go.
var numbersOf = map[string]numbers{
	"amd64": {audit: 0xc000003e, rename: 82, renameat: 264, renameat2: 316, seccomp: 317, statx: 332},
	"arm64": {audit: 0xc00000b7, renameat: 38, renameat2: 276, seccomp: 277, statx: 291},
}

var calls = numbersOf[runtime.GOARCH]

// Constants that package syscall does not have.
const (
	atWorkingDir      = -0x64 // AT_FDCWD
	atSymlinkNoFollow = 0x100
	atSymlinkFollow   = 0x400
	atRemoveDir       = 0x200
	atEmptyPath       = 0x1000
	openPath          = 0x200000 // O_PATH

	renameNoReplace = 1
	renameExchange  = 2

	resolveNoXdev       = 0x01
	resolveNoMagiclinks = 0x02
	resolveNoSymlinks   = 0x04
	resolveBeneath      = 0x08

	prSetChildSubreaper = 36
	prSetNoNewPrivs     = 38
)

// check returns the error of a system call.
func check(_, _ uintptr, errno syscall.Errno) error {
	if errno != 0 {
		return errno
	}
	return nil
}

// fileInfo is the kernel's struct statx.
type fileInfo struct {
	mask, blockSize            uint32
	attributes                 uint64
	links, uid, gid            uint32
	mode                       uint16
	_                          uint16
	inode, size, blocks, known uint64
	accessed, created, changed timestamp
	modified                   timestamp
	rdevMajor, rdevMinor       uint32
	deviceMajor, deviceMinor   uint32
	mount                      uint64
	_                          [13]uint64
}

// timestamp is the kernel's struct statx_timestamp.
type timestamp struct {
	seconds     int64
	nanoseconds uint32
	_           int32
}

func (t timestamp) timespec() syscall.Timespec {
	return syscall.Timespec{Sec: t.seconds, Nsec: int64(t.nanoseconds)}
}

const statxMount = 0x1000

func (i *fileInfo) isDir() bool { return i.mode&syscall.S_IFMT == syscall.S_IFDIR }
func (i *fileInfo) id() fileID {
	return fileID{uint64(i.deviceMajor)<<32 | uint64(i.deviceMinor), i.inode}
}

// sameState reports whether two names may be links to one file.
func (i *fileInfo) sameState(j *fileInfo) bool {
	return i.links > 1 && i.links == j.links && i.mode == j.mode && i.size == j.size &&
		i.changed == j.changed && i.modified == j.modified && i.created == j.created
}

// permissions returns the mode without the kind of file.
func (i *fileInfo) permissions() uint32 { return uint32(i.mode) & 0o7777 }

// fileID identifies a file as long as it exists.
type fileID struct{ device, inode uint64 }

// stat describes a file; a symbolic link itself with atSymlinkNoFollow.
func stat(dir int, path string, flags int) (info fileInfo, err error) {
	p, err := syscall.BytePtrFromString(path)
	if err != nil {
		return info, err
	}
	const basic = 0xfff // with the time of creation
	err = check(syscall.Syscall6(calls.statx, uintptr(dir), uintptr(unsafe.Pointer(p)), uintptr(flags), basic|statxMount, uintptr(unsafe.Pointer(&info)), 0))
	return info, err
}

// openat2 opens a file that is resolved as the flags say.
func openat2(dir int, path string, flags, resolve uint64) (int, error) {
	p, err := syscall.BytePtrFromString(path)
	if err != nil {
		return -1, err
	}
	how := [3]uint64{flags | syscall.O_CLOEXEC, 0, resolve}
	fd, _, errno := syscall.Syscall6(numberOpenat2, uintptr(dir), uintptr(unsafe.Pointer(p)), uintptr(unsafe.Pointer(&how)), unsafe.Sizeof(how), 0, 0)
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}

func renameat2(from, to place, flags uint) error {
	return callPlaces(calls.renameat2, from, to, uintptr(flags))
}

func linkat(from, to place, flags int) error {
	return callPlaces(syscall.SYS_LINKAT, from, to, uintptr(flags))
}

// callPlaces calls a system call that takes two places and flags.
func callPlaces(number uintptr, from, to place, flags uintptr) error {
	p, err := syscall.BytePtrFromString(from.name)
	if err != nil {
		return err
	}
	q, err := syscall.BytePtrFromString(to.name)
	if err != nil {
		return err
	}
	return check(syscall.Syscall6(number, uintptr(from.dir), uintptr(unsafe.Pointer(p)), uintptr(to.dir), uintptr(unsafe.Pointer(q)), flags, 0))
}

func unlinkat(p place, flags int) error {
	name, err := syscall.BytePtrFromString(p.name)
	if err != nil {
		return err
	}
	return check(syscall.Syscall(syscall.SYS_UNLINKAT, uintptr(p.dir), uintptr(unsafe.Pointer(name)), uintptr(flags)))
}

// setTimes sets the times of an open file.
func setTimes(fd int, accessed, modified timestamp) error {
	times := [2]syscall.Timespec{accessed.timespec(), modified.timespec()}
	return check(syscall.Syscall6(syscall.SYS_UTIMENSAT, uintptr(fd), 0, uintptr(unsafe.Pointer(&times)), 0, 0, 0))
}

// attribute calls a system call for an extended attribute of an open file.
func attribute(number uintptr, fd int, name string, value []byte) (int, error) {
	p, err := syscall.BytePtrFromString(name)
	if err != nil {
		return 0, err
	}
	n, _, errno := syscall.Syscall6(number, uintptr(fd), uintptr(unsafe.Pointer(p)), uintptr(unsafe.Pointer(unsafe.SliceData(value))), uintptr(len(value)), 0, 0)
	return int(n), check(n, 0, errno)
}

func listAttributes(fd int, list []byte) (int, error) {
	n, _, errno := syscall.Syscall(syscall.SYS_FLISTXATTR, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(list))), uintptr(len(list)))
	return int(n), check(n, 0, errno)
}

func prctl(option, value uintptr) error {
	return check(syscall.Syscall6(syscall.SYS_PRCTL, option, value, 0, 0, 0, 0))
}

// closeFile closes a file that nothing was written to.
func closeFile(fd int) { _ = syscall.Close(fd) }
