package supervise

import (
	"errors"
	"os"
	"strconv"
	"syscall"
	"unsafe"
)

// The system calls of landlock, which have the same numbers on all architectures.
const (
	landlockCreate   = 444
	landlockAdd      = 445
	landlockRestrict = 446

	landlockVersion = 1 // asks landlockCreate for the version of the ABI
	landlockFloor   = 3 // the first version that controls truncation
	landlockBeneath = 1 // a rule for all that is below a path
)

// Rights of landlock.
const (
	landlockWriteFile = 1 << 1
	landlockTruncate  = 1 << 14

	landlockDevices = 1<<6 | 1<<11 // create character and block devices
	// landlockChange is all that changes a directory: create, remove, link and rename entries.
	landlockChange = 1<<4 | 1<<5 | 1<<7 | 1<<8 | 1<<9 | 1<<10 | 1<<12 | 1<<13
	landlockAll    = landlockWriteFile | landlockTruncate | landlockChange | landlockDevices
)

// landlockRule is the kernel's struct landlock_path_beneath_attr, which is packed.
type landlockRule struct {
	allowed [2]uint32
	parent  int32
}

// Command is a command that can write only to some paths and below them.
type Command struct {
	Writable []string
	Argv     []string
}

// Args returns the arguments of a helper that runs the command.
func (c Command) Args() []string {
	args := append([]string{strconv.Itoa(len(c.Writable))}, c.Writable...)
	return append(args, c.Argv...)
}

// ParseCommand is the inverse of Args.
func ParseCommand(args []string) (Command, error) {
	if len(args) == 0 {
		return Command{}, errors.New("no command")
	}
	n, err := strconv.Atoi(args[0])
	if args = args[1:]; err != nil || n < 0 || len(args) <= n {
		return Command{}, errors.New("no command")
	}
	return Command{args[:n], args[n:]}, nil
}

// allows reports whether an open directory is one that the command can write to.
func (c Command) allows(dir int) bool {
	path, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(dir))
	if err != nil {
		return false
	}
	for _, top := range c.Writable {
		if path == top || top == "/" || hasPrefix(path, top+"/") {
			return true
		}
	}
	return false
}

// confine lets this thread, and the command that it starts, write only to the writable
// paths. On a kernel without landlock it does nothing: the read-only mounts of the
// sandbox hold anyway.
func (c Command) confine() error {
	version, _, errno := syscall.Syscall(landlockCreate, 0, 0, landlockVersion)
	if errno != 0 || version < landlockFloor {
		return nil
	}
	handled := uint64(landlockAll)
	rules, _, errno := syscall.Syscall(landlockCreate, uintptr(unsafe.Pointer(&handled)), unsafe.Sizeof(handled), 0)
	if errno != 0 {
		return errors.New("landlock: " + errno.Error())
	}
	defer closeFile(int(rules))
	for _, path := range c.Writable {
		if err := allow(rules, path); err != nil {
			return errors.New("landlock " + path + ": " + err.Error())
		}
	}
	if err := check(syscall.Syscall(landlockRestrict, rules, 0, 0)); err != nil {
		return errors.New("landlock: " + err.Error())
	}
	return nil
}

// allow adds a rule for a path. One that does not exist needs none.
func allow(rules uintptr, path string) error {
	fd, err := openat2(atWorkingDir, path, openPath|syscall.O_CLOEXEC, resolveNoMagiclinks)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer closeFile(fd)
	rights := uint32(landlockAll &^ landlockDevices)
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		rights = landlockWriteFile | landlockTruncate
	}
	rule := landlockRule{allowed: [2]uint32{rights, 0}, parent: int32(fd)}
	return check(syscall.Syscall6(landlockAdd, rules, landlockBeneath, uintptr(unsafe.Pointer(&rule)), 0, 0, 0))
}
