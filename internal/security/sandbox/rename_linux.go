package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// An overlay that is mounted without privileges refuses to rename a directory of its
// lower layers (EXDEV). serveRenames lets this process answer the renames of the command
// and its children: those of directories it makes itself, all others the kernel. It has
// no more rights than the command, so that nothing depends on what the command changes
// while a rename is looked at. A process that restricts itself further can still have
// directories renamed that the command can rename.
//
// The filter is set for this thread, which must start the command: other threads of this
// process make renames of their own.
func serveRenames() error {
	filter, err := renameFilter(runtime.GOARCH)
	if err != nil {
		return err
	}
	listener, err := listen(filter)
	if err != nil {
		return fmt.Errorf("listen to renames: %w", err)
	}
	// With Yama, a process can read the memory of its descendants only: orphans have to
	// remain descendants.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("adopt orphans: %w", err)
	}
	// An older kernel works without it, slower.
	_ = unix.IoctlSetInt(listener, unix.SECCOMP_IOCTL_NOTIF_SET_FLAGS, unix.SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP)
	go (&renameServer{listener: listener}).serve()
	return nil
}

// renameFilter returns the filter that asks for each rename.
func renameFilter(arch string) ([]bpf.Instruction, error) {
	program, err := begin(arch)
	if err != nil {
		return nil, err
	}
	var answers []answer
	for _, c := range []call{callRename, callRenameat, callRenameat2} { // in the order of their numbers
		if n := c.number(arch); n >= 0 {
			answers = append(answers, answer{uint32(n), []bpf.Instruction{bpf.RetConstant{Val: retAsk}}})
		}
	}
	return append(program, search(answers)...), nil
}

// listen sets a filter for this thread and returns the file that its questions come from.
func listen(filter []bpf.Instruction) (int, error) {
	program, err := kernelProgram(filter)
	if err != nil {
		return -1, err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return -1, err
	}
	// With WAIT_KILLABLE_RECV only a deadly signal interrupts a call that is being
	// answered. Linux before 5.19 does not have it.
	for _, flags := range []uintptr{unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER} {
		fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(program)))
		if errno == 0 {
			return int(fd), nil
		}
		if err = errno; errno != unix.EINVAL {
			break
		}
	}
	return -1, err
}

// question is the kernel's struct seccomp_notif: a call that waits for an answer.
type question struct {
	id         uint64
	pid, flags uint32
	number     int32
	arch       uint32
	at         uint64
	args       [6]uint64
}

// reply is the kernel's struct seccomp_notif_resp.
type reply struct {
	id    uint64
	value int64
	errno int32 // negative
	flags uint32
}

// renameServer answers renames.
type renameServer struct {
	listener int
	mu       sync.Mutex // held while a directory is renamed
}

// serve answers questions until this process ends.
func (s *renameServer) serve() {
	for {
		var q question
		switch err := s.ioctl(unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&q)); {
		case errors.Is(err, unix.EINTR) || errors.Is(err, unix.ENOENT): // the caller was killed
		case err != nil:
			closeFile(s.listener) // renames fail from now on, instead of waiting
			return
		case s.concerns(&q):
			go s.rename(&q)
		default:
			s.pass(&q)
		}
	}
}

func (s *renameServer) ioctl(request uintptr, data unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(s.listener), request, uintptr(data)); errno != 0 {
		return errno
	}
	return nil
}

// pass lets the kernel execute the call as if it had not asked.
func (s *renameServer) pass(q *question) {
	s.reply(&reply{id: q.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE})
}

// reply sends an answer. It fails if the caller was killed.
func (s *renameServer) reply(r *reply) {
	_ = s.ioctl(unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(r))
}

// waits reports whether the caller still waits for the answer. If so, what was opened
// under /proc before is the caller's.
func (s *renameServer) waits(q *question) bool {
	return s.ioctl(unix.SECCOMP_IOCTL_NOTIF_ID_VALID, unsafe.Pointer(&q.id)) == nil
}

// concerns reports whether a directory may be renamed. It is called for every rename, and
// may be wrong if it says so: rename looks again.
func (s *renameServer) concerns(q *question) bool {
	from, to, flags := q.call()
	switch {
	case flags&^(unix.RENAME_NOREPLACE|unix.RENAME_EXCHANGE) != 0:
		return false
	case flags&unix.RENAME_EXCHANGE != 0:
		return q.isDir(from) || q.isDir(to)
	}
	return q.isDir(from)
}

// pathArg is a path as a system call gets it: relative to a directory, in memory.
type pathArg struct {
	dir     int32
	address uint64
}

// call returns the arguments of a rename.
func (q *question) call() (from, to pathArg, flags uint) {
	switch a := q.args; int(q.number) {
	case callRename.number(runtime.GOARCH):
		return pathArg{unix.AT_FDCWD, a[0]}, pathArg{unix.AT_FDCWD, a[1]}, 0
	case callRenameat2.number(runtime.GOARCH):
		flags = uint(uint32(a[4]))
	}
	return pathArg{int32(q.args[0]), q.args[1]}, pathArg{int32(q.args[2]), q.args[3]}, flags
}

// proc returns the path of a file of the caller in /proc.
func (q *question) proc(name string) string {
	return "/proc/" + strconv.FormatUint(uint64(q.pid), 10) + "/" + name
}

// base returns the path in /proc of the directory that a relative path starts from.
func (q *question) base(dir int32) string {
	if dir == unix.AT_FDCWD {
		return q.proc("cwd")
	}
	return q.proc("fd/" + strconv.Itoa(int(dir)))
}

// isDir reports whether a path leads to a directory. What cannot be read does not.
func (q *question) isDir(arg pathArg) bool {
	path, err := q.read(arg.address)
	if err != nil {
		return false
	}
	if path[0] != '/' {
		path = q.base(arg.dir) + "/" + path
	}
	var st unix.Stat_t
	return unix.Lstat(path, &st) == nil && isDir(&st)
}

// read returns the path at an address of the caller, which is not "".
func (q *question) read(address uint64) (string, error) {
	fd, err := unix.Open(q.proc("mem"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer closeFile(fd)
	var buf [unix.PathMax]byte
	n, err := unix.Pread(fd, buf[:], int64(address)) // it ends where the memory ends
	if err != nil {
		return "", err
	}
	end := bytes.IndexByte(buf[:n], 0)
	if end <= 0 {
		return "", unix.EFAULT
	}
	return string(buf[:end]), nil
}

// open returns the directory that a path's last element is in, and that element, with the
// slashes that follow it. It does not follow the magic links of /proc, such as
// /proc/self/cwd, which would lead to files of this process.
func (q *question) open(arg pathArg) (dir int, name string, err error) {
	path, err := q.read(arg.address)
	if err != nil {
		return -1, "", err
	}
	base := "/"
	if path[0] != '/' {
		base = q.base(arg.dir)
	}
	start, err := unix.Open(base, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, "", err
	}
	defer closeFile(start)
	cut := strings.LastIndexByte(strings.TrimRight(path, "/"), '/') + 1
	parent := path[:cut]
	if parent == "" {
		parent = "."
	}
	dir, err = unix.Openat2(start, parent, &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_MAGICLINKS,
	})
	return dir, path[cut:], err
}

// rename answers a question about a directory.
func (s *renameServer) rename(q *question) {
	from, to, flags := q.call()
	r := treeRename{flags: flags, waits: func() bool { return s.waits(q) }}
	var err error
	if r.from.dir, r.from.name, err = q.open(from); err != nil {
		s.pass(q)
		return
	}
	defer closeFile(r.from.dir)
	if r.to.dir, r.to.name, err = q.open(to); err != nil {
		s.pass(q)
		return
	}
	defer closeFile(r.to.dir)
	// The kernel has such a lock, too. Without it, two renames could copy the same tree.
	s.mu.Lock()
	defer s.mu.Unlock()
	if !q.sameRoot() || !r.concerns() {
		s.pass(q)
		return
	}
	if !r.waits() {
		return
	}
	answer := reply{id: q.id}
	if err := r.run(); err != nil {
		errno := unix.EIO
		_ = errors.As(err, &errno)
		answer.errno = -int32(errno)
	}
	s.reply(&answer)
}

// sameRoot reports whether paths mean the same to the caller and to this process. Nothing
// in a sandbox can change its root.
func (q *question) sameRoot() bool {
	var mine, root unix.Stat_t
	return unix.Stat("/", &mine) == nil && unix.Stat(q.proc("root"), &root) == nil && inodeOf(&mine) == inodeOf(&root)
}
