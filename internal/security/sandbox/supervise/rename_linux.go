package supervise

import (
	"errors"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"unsafe"
)

// Constants of seccomp.
const (
	setModeFilter    = 1
	newListener      = 8
	waitKillableRecv = 0x20

	ioctlReceive  = 0xc0502100
	ioctlSend     = 0xc0182101
	ioctlValid    = 0x40082102
	ioctlSetFlags = 0x40082104

	flagContinue   = 1 // the kernel executes the call
	flagSyncWakeUp = 1

	retKill  = 0x80000000
	retAsk   = 0x7fc00000 // a process that listens answers
	retAllow = 0x7fff0000
)

// ServeRenames lets this process answer the renames of the command and its children. An
// overlay that is mounted without privileges refuses to rename a directory of its lower
// layers (EXDEV): those this process renames itself, all others the kernel. It has no more
// rights than the command, and renames only where the command can write, so that nothing
// depends on what the command changes while a rename is looked at. A process that restricts itself further can still have directories
// renamed that the command can rename.
//
// The filter is set for this thread, which the caller has locked and which must start the
// command: other threads of this process make renames of their own.
func (c Command) ServeRenames() error {
	listener, err := listen()
	if err != nil {
		return errors.New("listen to renames: " + err.Error())
	}
	// With Yama, a process can read the memory of its descendants only: orphans have to
	// remain descendants.
	if err := prctl(prSetChildSubreaper, 1); err != nil {
		return errors.New("adopt orphans: " + err.Error())
	}
	// An older kernel works without it, slower.
	_, _, _ = syscall.Syscall(syscall.SYS_IOCTL, uintptr(listener), ioctlSetFlags, flagSyncWakeUp)
	go (&server{command: c, listener: listener}).serve()
	return nil
}

// filter returns the filter that asks for each rename. It kills processes that use the
// calls of another architecture, which have other numbers: i386, and x32 on amd64.
func filter(n numbers) []syscall.SockFilter {
	const (
		load      = syscall.BPF_LD | syscall.BPF_W | syscall.BPF_ABS
		equal     = syscall.BPF_JMP | syscall.BPF_JEQ | syscall.BPF_K
		atLeast   = syscall.BPF_JMP | syscall.BPF_JGE | syscall.BPF_K
		ret       = syscall.BPF_RET | syscall.BPF_K
		seeNumber = 0
		seeArch   = 4
		x32Bit    = 0x40000000
	)
	program := []syscall.SockFilter{
		{Code: load, K: seeArch},
		{Code: equal, K: n.audit, Jt: 1},
		{Code: ret, K: retKill},
		{Code: load, K: seeNumber},
		{Code: atLeast, K: x32Bit, Jf: 1},
		{Code: ret, K: retKill},
	}
	for _, number := range []uintptr{n.rename, n.renameat, n.renameat2} {
		if number != 0 {
			program = append(program, syscall.SockFilter{Code: equal, K: uint32(number), Jf: 1}, syscall.SockFilter{Code: ret, K: retAsk})
		}
	}
	return append(program, syscall.SockFilter{Code: ret, K: retAllow})
}

// listen sets the filter for this thread and returns the file that its questions come
// from.
func listen() (int, error) {
	if calls.audit == 0 {
		return -1, errors.New("no seccomp filter for " + runtime.GOARCH)
	}
	filter := filter(calls)
	program := syscall.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := prctl(prSetNoNewPrivs, 1); err != nil {
		return -1, err
	}
	var err error
	// With waitKillableRecv only a deadly signal interrupts a call that is being answered.
	// Linux before 5.19 does not have it.
	for _, flags := range []uintptr{newListener | waitKillableRecv, newListener} {
		fd, _, errno := syscall.Syscall(calls.seccomp, setModeFilter, flags, uintptr(unsafe.Pointer(&program)))
		if errno == 0 {
			return int(fd), nil
		}
		if err = errno; errno != syscall.EINVAL {
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

// server answers renames.
type server struct {
	command  Command
	listener int
	mu       sync.Mutex // held while a directory is renamed
}

// serve answers questions until this process ends.
func (s *server) serve() {
	for {
		var q question
		switch err := s.ioctl(ioctlReceive, unsafe.Pointer(&q)); {
		case errors.Is(err, syscall.EINTR) || errors.Is(err, syscall.ENOENT): // the caller was killed
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

func (s *server) ioctl(request uintptr, data unsafe.Pointer) error {
	return check(syscall.Syscall(syscall.SYS_IOCTL, uintptr(s.listener), request, uintptr(data)))
}

// pass lets the kernel execute the call as if it had not asked.
func (s *server) pass(q *question) {
	s.reply(&reply{id: q.id, flags: flagContinue})
}

// reply sends an answer. It fails if the caller was killed.
func (s *server) reply(r *reply) {
	_ = s.ioctl(ioctlSend, unsafe.Pointer(r))
}

// waits reports whether the caller still waits for the answer. If so, what was opened
// under /proc before is the caller's.
func (s *server) waits(q *question) bool {
	return s.ioctl(ioctlValid, unsafe.Pointer(&q.id)) == nil
}

// concerns reports whether a directory may be renamed. It is called for every rename, and
// may be wrong if it says so: rename looks again.
func (s *server) concerns(q *question) bool {
	from, to, flags := q.call()
	switch {
	case flags&^(renameNoReplace|renameExchange) != 0:
		return false
	case flags&renameExchange != 0:
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
	switch a := q.args; uintptr(q.number) {
	case calls.rename:
		return pathArg{atWorkingDir, a[0]}, pathArg{atWorkingDir, a[1]}, 0
	case calls.renameat2:
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
	if dir == atWorkingDir {
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
	st, err := stat(atWorkingDir, path, atSymlinkNoFollow)
	return err == nil && st.isDir()
}

// read returns the path at an address of the caller, which is not "".
func (q *question) read(address uint64) (string, error) {
	fd, err := syscall.Open(q.proc("mem"), syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer closeFile(fd)
	var buf [syscall.PathMax]byte
	n, err := syscall.Pread(fd, buf[:], int64(address)) // it ends where the memory ends
	if err != nil {
		return "", err
	}
	for end, b := range buf[:n] {
		if b == 0 && end > 0 {
			return string(buf[:end]), nil
		}
		if b == 0 {
			break
		}
	}
	return "", syscall.EFAULT
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
	start, err := syscall.Open(base, openPath|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return -1, "", err
	}
	defer closeFile(start)
	cut := lastIndex(trimSlashes(path), '/') + 1
	parent := path[:cut]
	if parent == "" {
		parent = "."
	}
	dir, err = openat2(start, parent, openPath|syscall.O_DIRECTORY, resolveNoMagiclinks)
	return dir, path[cut:], err
}

// rename answers a question about a directory.
func (s *server) rename(q *question) {
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
	if !q.sameRoot() || !r.concerns() || !s.command.allows(r.from.dir) || !s.command.allows(r.to.dir) {
		s.pass(q)
		return
	}
	if !r.waits() {
		return
	}
	answer := reply{id: q.id}
	if err := r.run(); err != nil {
		errno := syscall.EIO
		_ = errors.As(err, &errno)
		answer.errno = -int32(errno)
	}
	s.reply(&answer)
}

// sameRoot reports whether paths mean the same to the caller and to this process. Nothing
// in a sandbox can change its root.
func (q *question) sameRoot() bool {
	mine, err := stat(atWorkingDir, "/", 0)
	if err != nil {
		return false
	}
	root, err := stat(atWorkingDir, q.proc("root"), 0)
	return err == nil && mine.id() == root.id()
}
