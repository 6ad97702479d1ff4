package worktree

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// asOwner runs code for which file permissions matter. As root, it uses a thread that
// drops the capabilities to bypass them and ends afterwards.
func asOwner(t *testing.T, do func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		do()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked, so that the thread ends with the goroutine
		head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var caps [2]unix.CapUserData
		if err := unix.Capget(&head, &caps[0]); err != nil {
			t.Error(err)
			return
		}
		caps[0].Effective &^= 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH
		if err := unix.Capset(&head, &caps[0]); err != nil {
			t.Error(err)
			return
		}
		do()
	}()
	<-done
}

func contains(err error, text string) bool { return strings.Contains(err.Error(), text) }
