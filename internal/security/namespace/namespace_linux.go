package namespace

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// hiddenRoot returns the number that root has if the user namespace of this process does
// not map it, and otherwise 0.
var hiddenRoot = sync.OnceValue(func() uint32 {
	text, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && (f[0] == "0" || f[1] == "0") {
			return 0
		}
	}
	text, err = os.ReadFile("/proc/sys/kernel/overflowuid")
	if err != nil {
		return 0
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 32)
	if err != nil || int(n) == os.Geteuid() {
		return 0
	}
	return uint32(n)
})

// ForMounts returns the namespaces in which a child can mount: a mount namespace and, if
// this process cannot mount, a user namespace, in which the child maps its user itself:
// see package supervise.
func ForMounts() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if !canMount() {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ { // so that the helper keeps them
			attr.AmbientCaps = append(attr.AmbientCaps, c)
		}
	}
	return attr
}

// canMount reports whether this process can mount without a user namespace.
var canMount = sync.OnceValue(func() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	return unix.Capget(&header, &data[0]) == nil && data[0].Effective&(1<<unix.CAP_SYS_ADMIN) != 0
})
