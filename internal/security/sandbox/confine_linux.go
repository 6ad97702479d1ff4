package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pawl-dev/pawl/internal/security/sandbox/supervise"
)

// landlockFloor is the oldest ABI version of landlock that is sufficient: version 3
// controls truncation, 5 devices, 6 signals to other processes.
const landlockFloor = 6

// The rights that rules control. What no rule allows is denied.
const (
	fsRead  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	fsWrite = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_REFER |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SYM |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK
	fsDevice = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	fsAll    = fsRead | fsWrite | fsDevice | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
	// fsFile are the rights of files, as opposed to directories.
	fsFile = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	netAll   = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	scopeAll = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
)

// confine drops all rights of this process except those in the confinement on file
// descriptor 3, and executes the command. It returns only if it fails, without having
// run the command. Its caller has locked the thread, because rights are per thread.
func confine(argv []string) int {
	if len(argv) == 0 {
		return supervise.Fail(supervise.ExitCannot, errors.New("no command"))
	}
	var c confinement
	file := os.NewFile(3, "confinement")
	if err := json.NewDecoder(file).Decode(&c); err != nil {
		return supervise.Fail(supervise.ExitCannot, fmt.Errorf("read the confinement: %w", err))
	}
	_ = file.Close() // it was only read
	if err := os.Chdir(c.Dir); err != nil {
		return supervise.Fail(supervise.ExitCannot, err)
	}
	var env []string
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); slices.Contains(c.Names, name) {
			env = append(env, entry)
		}
	}
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return supervise.Fail(supervise.ExitNotFound, err)
	}
	_, _ = unix.Setsid() // it fails if it has a session of its own already
	for _, step := range []func() error{sealFiles, dropCapabilities, c.restrict, installFilter} {
		if err := step(); err != nil {
			return supervise.Fail(supervise.ExitCannot, err)
		}
	}
	err = syscall.Exec(path, argv, env) //nolint:gosec // running the given command is the job
	return supervise.FailStart(path, err)
}

// dropCapabilities irrevocably drops all capabilities, so that root is an ordinary
// user.
func dropCapabilities() error {
	for c := uintptr(0); c <= 63; c++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); errors.Is(err, unix.EINVAL) {
			break // there are no more
		} else if errors.Is(err, unix.EPERM) {
			break // there is nothing to drop
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set no_new_privs: %w", err)
	}
	return nil
}

// landlockABI returns the ABI version of the kernel's landlock; 0 means none.
func landlockABI() int {
	n, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// restrict applies the landlock rules to this thread.
func (c *confinement) restrict() error {
	if abi := landlockABI(); abi < landlockFloor {
		return fmt.Errorf("landlock ABI %d is required, the kernel has %d", landlockFloor, abi)
	}
	attr := unix.LandlockRulesetAttr{Access_fs: fsAll, Access_net: netAll, Scoped: scopeAll}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return fmt.Errorf("landlock: %w", errno)
	}
	ruleset := int(fd)
	defer closeFile(ruleset)
	for _, rule := range []struct {
		paths  []string
		access uint64
	}{
		{c.Read, fsRead}, {c.List, unix.LANDLOCK_ACCESS_FS_READ_DIR}, {c.Write, fsRead | fsWrite}, {c.Use, fsDevice},
	} {
		for _, path := range rule.paths {
			if err := allowBeneath(ruleset, path, rule.access); err != nil {
				return err
			}
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("landlock: %w", errno)
	}
	return nil
}

// allowBeneath adds a rule for a path. A path that no longer exists needs none.
func allowBeneath(ruleset int, path string, access uint64) error {
	fd, err := openReal(path, unix.O_PATH)
	if err != nil {
		return nil // if pawl has no access, neither has the command
	}
	defer closeFile(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("landlock %s: %w", path, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= fsFile
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
		return fmt.Errorf("landlock %s: %w", path, errno)
	}
	return nil
}

// installFilter sets the seccomp filter of a sandbox without namespaces.
func installFilter() error {
	raw, err := assemble(amidst)
	if err != nil {
		return err
	}
	program := make([]unix.SockFilter, len(raw))
	for i, ins := range raw {
		program[i] = unix.SockFilter{Code: ins.Op, Jt: ins.Jt, Jf: ins.Jf, K: ins.K}
	}
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog)), 0, 0); err != nil {
		return fmt.Errorf("seccomp: %w", err)
	}
	return nil
}
