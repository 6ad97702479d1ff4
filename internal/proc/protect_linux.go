package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Protect keeps commands that this process starts from reading its memory, environment
// and open files, which contain API keys: also those that run as the same user without a
// sandbox. It also disables core dumps. Call it once, at the start of a program. Only root
// can still debug this process.
func Protect() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("protect the memory of this process: %w", err)
	}
	if err := eraseEnviron(); err != nil {
		return fmt.Errorf("protect the environment of this process: %w", err)
	}
	if os.Geteuid() != 0 {
		return nil
	}
	// Root reads the memory of all processes by this capability. It stays with this process,
	// but not with the programs that it executes. A build with cgo, as for the race detector,
	// cannot do it for all threads.
	_, _, errno := syscall.AllThreadsSyscall(unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, unix.CAP_SYS_PTRACE, 0)
	if errno != 0 && !errors.Is(errno, syscall.ENOTSUP) && !errors.Is(errno, syscall.EPERM) {
		return fmt.Errorf("protect the memory of this process: %w", errno)
	}
	return nil
}

// eraseEnviron erases the environment of this process where /proc shows it, because root
// can read that of any process. The Go runtime has made a copy. The marks stay, by which
// this process is found.
func eraseEnviron() error {
	environ, err := environMemory()
	if err != nil {
		return err
	}
	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		name, value, _ := bytes.Cut(entry, []byte("="))
		if !slices.Contains(Marks(), string(name)) {
			clear(value)
		}
	}
	return nil
}

// environMemory returns the memory with the environment that the kernel has given to this
// process. It is behind the arguments.
func environMemory() ([]byte, error) {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const first = 48 - 3 // arg_start is the 48th field, of which two are cut off
	if len(fields) < first+4 {
		return nil, errors.New("/proc/self/stat has too few fields")
	}
	var at [4]uint64 // arg_start, arg_end, env_start, env_end
	for i := range at {
		if at[i], err = strconv.ParseUint(fields[first+i], 10, 64); err != nil {
			return nil, err
		}
	}
	arg, env, end := uintptr(at[0]), uintptr(at[2]), uintptr(at[3])
	args := unsafe.Pointer(unsafe.StringData(os.Args[0])) // the runtime has not copied them
	if uintptr(args) != arg || env < arg || end < env {
		return nil, errors.New("the arguments are not where the kernel has put them")
	}
	return unsafe.Slice((*byte)(unsafe.Add(args, env-arg)), end-env), nil
}
