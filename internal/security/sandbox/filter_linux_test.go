package sandbox

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// seen is a system call as a filter sees it.
type seen struct {
	arch, nr uint32
	args     [6]uint64
}

// decide runs the filter on a call, in the kernel's place. The machine of
// package bpf reads the most significant byte first, and each half by itself.
func decide(t *testing.T, vm *bpf.VM, s seen) uint32 {
	t.Helper()
	data := binary.BigEndian.AppendUint32(nil, s.nr)
	data = binary.BigEndian.AppendUint32(data, s.arch)
	data = binary.BigEndian.AppendUint64(data, 0) // the instruction pointer
	for _, arg := range s.args {
		data = binary.BigEndian.AppendUint32(data, uint32(arg))
		data = binary.BigEndian.AppendUint32(data, uint32(arg>>32))
	}
	verdict, err := vm.Run(data)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(verdict)
}

func TestFilter(t *testing.T) { //nolint:paralleltest // its processes share HOME and what Release removes
	const eperm, enosys = retErrno | uint32(unix.EPERM), retErrno | uint32(unix.ENOSYS)
	high := uint64(1) << 32
	for arch, audit := range map[string]uint32{"amd64": auditAMD64, "arm64": auditARM64} {
		number := func(c call) uint32 {
			if arch == "arm64" {
				return uint32(c.arm64)
			}
			return uint32(c.amd64)
		}
		for mode, where := range map[string]surroundings{"apart": apart, "amidst": amidst} {
			program, err := filter(arch, where)
			if err != nil {
				t.Fatal(err)
			}
			vm, err := bpf.NewVM(program)
			if err != nil {
				t.Fatal(err)
			}
			check := func(name string, want, nr uint32, args ...uint64) {
				t.Helper()
				s := seen{arch: audit, nr: nr}
				copy(s.args[:], args)
				if got := decide(t, vm, s); got != want {
					t.Errorf("%s, %s: %s%v: %#x, want %#x", arch, mode, name, args, got, want)
				}
			}
			refused := map[uint32]bool{number(callClone3): true}
			for _, c := range refusedCalls {
				refused[number(c)] = true
				if int32(number(c)) >= 0 {
					check(c.name, eperm, number(c))
				}
			}
			if where == amidst {
				for _, c := range sharedCalls {
					refused[number(c)] = true
					check(c.name, eperm, number(c))
				}
				check("prlimit of another", eperm, number(callPrlimit), 17)
			}
			check("prlimit", retAllow, number(callPrlimit), 0)
			some := map[uint32]bool{number(callSocket): true, number(callSocketpair): true}
			for nr := range uint32(600) {
				if !refused[nr] && !some[nr] {
					check("call", retAllow, nr)
				}
			}
			check("clone3", enosys, number(callClone3))
			check("fork", retAllow, number(callClone), uint64(unix.SIGCHLD))
			check("thread", retAllow, number(callClone), unix.CLONE_VM|unix.CLONE_THREAD|unix.CLONE_SIGHAND|unix.CLONE_FILES)
			check("unshare", retAllow, number(callUnshare), unix.CLONE_FILES|unix.CLONE_FS)
			for _, flag := range []uint64{unix.CLONE_NEWUSER, unix.CLONE_NEWNS, unix.CLONE_NEWPID, unix.CLONE_NEWNET, unix.CLONE_NEWIPC, unix.CLONE_NEWUTS, unix.CLONE_NEWCGROUP} {
				check("clone", eperm, number(callClone), flag|uint64(unix.SIGCHLD))
				check("clone", eperm, number(callClone), flag|high)
				check("unshare", eperm, number(callUnshare), flag|unix.CLONE_FS)
			}
			check("unshare time", eperm, number(callUnshare), unix.CLONE_NEWTIME)
			for _, request := range []uint64{unix.TIOCSTI, unix.TIOCLINUX} {
				check("ioctl", eperm, number(callIoctl), 0, request)
				check("ioctl", eperm, number(callIoctl), 0, request|high)
			}
			check("ioctl", retAllow, number(callIoctl), 0, unix.TIOCGWINSZ)
			common := uint32(retAllow)
			if where == amidst {
				common = eperm
			}
			for _, family := range []uint64{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6} {
				check("socket", common, number(callSocket), family, unix.SOCK_STREAM)
				check("socket", common, number(callSocket), family|high, unix.SOCK_DGRAM)
			}
			check("netlink route", retAllow, number(callSocket), unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE)
			check("netlink other", eperm, number(callSocket), unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT)
			for family := range uint64(unix.AF_MAX) {
				switch family {
				case unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK:
				default:
					check("socket", eperm, number(callSocket), family)
				}
			}
			check("socketpair", retAllow, number(callSocketpair), unix.AF_UNIX)
			check("socketpair", eperm, number(callSocketpair), unix.AF_TIPC)
			for _, other := range []uint32{0x40000003, auditAMD64, auditARM64, 0x40000028, 0} {
				if got := decide(t, vm, seen{arch: other}); other != audit && got != retKill {
					t.Errorf("%s: a call of architecture %#x: %#x", arch, other, got)
				}
			}
			if got := decide(t, vm, seen{arch: audit, nr: 1 | x32Bit}); arch == "amd64" && got != retKill {
				t.Errorf("a call of x32: %#x", got)
			}
			if len(program) > 4096 {
				t.Errorf("the kernel takes 4096 instructions, these are %d", len(program))
			}
		}
	}
	if _, err := filter("mips", apart); err == nil {
		t.Error("there is a filter for an architecture whose numbers nobody knows")
	}
}

// TestCallNumbers holds the numbers against the tables of x/sys/unix.
func TestCallNumbers(t *testing.T) { //nolint:paralleltest // its processes share HOME and what Release removes
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/sys").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, arch := range []string{"amd64", "arm64"} {
		text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "unix", "zsysnum_linux_"+arch+".go"))
		if err != nil {
			t.Fatal(err)
		}
		known := map[string]string{}
		for _, m := range regexp.MustCompile(`SYS_(\w+)\s+= (\d+)`).FindAllStringSubmatch(string(text), -1) {
			known[strings.ToLower(m[1])] = m[2]
		}
		for _, c := range slices.Concat(refusedCalls, sharedCalls, []call{callClone, callClone3, callUnshare, callIoctl, callSocket, callSocketpair, callPrlimit}) {
			nr := c.amd64
			if arch == "arm64" {
				nr = c.arm64
			}
			want, ok := known[c.name]
			if !ok {
				want = "-1"
			}
			if got := fmt.Sprint(nr); got != want {
				t.Errorf("%s on %s is %s, want %s", c.name, arch, got, want)
			}
		}
	}
}
