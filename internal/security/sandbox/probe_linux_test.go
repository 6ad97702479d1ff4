package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// probes are what a hostile command tries that a shell cannot. One that gets
// through says so with the word ESCAPED.
var probes = map[string]func(args []string) error{
	"calls":    probeCalls,
	"dial":     func(a []string) error { return probeDial(a[0], a[1]) },
	"ptrace":   func(a []string) error { return unix.PtraceAttach(number(a[0])) },
	"traceme":  func([]string) error { return raw(unix.SYS_PTRACE, unix.PTRACE_TRACEME) },
	"vm_read":  probeVMRead,
	"kill":     func(a []string) error { return unix.Kill(number(a[0]), unix.SIGKILL) },
	"tiocsti":  probeTIOCSTI,
	"userns":   func([]string) error { return raw(unix.SYS_UNSHARE, unix.CLONE_NEWUSER) },
	"cloneuns": probeCloneUser,
	"mount":    func(a []string) error { return unix.Mount("tmpfs", a[0], "tmpfs", 0, "") },
	"umount":   func(a []string) error { return unix.Unmount(a[0], unix.MNT_DETACH) },
	"remount":  func(a []string) error { return unix.Mount("none", a[0], "", unix.MS_REMOUNT|unix.MS_BIND, "") },
	"family":   probeFamilies,
	"x32":      func([]string) error { return raw(unix.SYS_GETPID|x32Bit, 0) },
	"mknod":    func(a []string) error { return unix.Mknod(a[0], unix.S_IFBLK|0o666, int(unix.Mkdev(254, 0))) },
	"shm":      probeMemory,
	"setuid":   func([]string) error { return probeSetuid() },
}

func probe(name string, args []string) int {
	runtime.LockOSThread()
	err := probes[name](args)
	if err == nil {
		fmt.Println("ESCAPED:", name, strings.Join(args, " "))
		return 0
	}
	fmt.Println(name+":", err)
	return 1
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

func raw(nr, arg uintptr) error {
	if _, _, errno := unix.RawSyscall(nr, arg, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// probeCalls makes each refused call, with arguments that mean nothing. Without
// rights none of them can do harm.
func probeCalls([]string) error {
	const all = ^uintptr(0)
	var through []string
	for _, c := range refusedCalls {
		nr := c.amd64
		if runtime.GOARCH == "arm64" {
			nr = c.arm64
		}
		if nr < 0 {
			continue
		}
		if _, _, errno := unix.RawSyscall6(uintptr(nr), all, all, all, all, all, all); errno != unix.EPERM {
			through = append(through, fmt.Sprintf("%s (%v)", c.name, errno))
		}
	}
	if _, _, errno := unix.RawSyscall(435, all, all, 0); errno != unix.ENOSYS {
		through = append(through, fmt.Sprintf("clone3 (%v)", errno))
	}
	if len(through) > 0 {
		fmt.Println("not refused:", strings.Join(through, ", "))
		return nil
	}
	return errors.New("all refused")
}

func probeDial(network, address string) error {
	conn, err := net.DialTimeout(network, address, 2*time.Second)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("hello")); err != nil {
		fmt.Println(err)
	}
	if network == "udp" {
		return errors.New("sent to whomever, who will tell")
	}
	return nil
}

func probeVMRead(args []string) error {
	buffer := make([]byte, 8)
	local := []unix.Iovec{{Base: &buffer[0], Len: 8}}
	_, err := unix.ProcessVMReadv(number(args[0]), local, []unix.RemoteIovec{{Base: 0x400000, Len: 8}}, 0)
	if errors.Is(err, unix.EFAULT) {
		return nil // it was let in, and found nothing there
	}
	return err
}

// probeTIOCSTI types into the terminal, also with a number whose high half the
// kernel does not read.
func probeTIOCSTI([]string) error {
	letter := byte('x')
	for _, request := range []uintptr{unix.TIOCSTI, unix.TIOCSTI | 1<<32, unix.TIOCLINUX} {
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, 0, request, uintptr(unsafe.Pointer(&letter))); errno != unix.EPERM {
			fmt.Println("ioctl", request, errno)
			return nil
		}
	}
	return unix.EPERM
}

// probeMemory reads shared memory of another process.
func probeMemory(args []string) error {
	data, err := unix.SysvShmAttach(number(args[0]), 0, unix.SHM_RDONLY)
	if err != nil {
		return err
	}
	fmt.Println(strings.TrimRight(string(data), "\x00"))
	return nil
}

func probeCloneUser([]string) error {
	pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.CLONE_NEWUSER|int(unix.SIGCHLD)), 0, 0, 0, 0, 0)
	if errno != 0 {
		return errno
	}
	if pid == 0 {
		_, _, _ = unix.RawSyscall(unix.SYS_EXIT, 0, 0, 0)
	}
	return nil
}

func probeFamilies([]string) error {
	for _, family := range []int{unix.AF_VSOCK, unix.AF_ALG, unix.AF_PACKET, unix.AF_BLUETOOTH, unix.AF_KEY, unix.AF_RDS, unix.AF_TIPC} {
		if _, err := unix.Socket(family, unix.SOCK_RAW, 0); !errors.Is(err, unix.EPERM) {
			fmt.Println("family", family, err)
			return nil
		}
	}
	if _, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT); !errors.Is(err, unix.EPERM) {
		fmt.Println("netlink", err)
		return nil
	}
	return unix.EPERM
}

// probeSetuid tells whether this program, which is setuid to another user, runs as that user.
func probeSetuid() error {
	if os.Getuid() == os.Geteuid() {
		return errors.New("runs as its caller")
	}
	return nil
}

func itoa(n int) string { return strconv.Itoa(n) }
