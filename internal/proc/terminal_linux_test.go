package proc

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
)

// A command with a terminal could stop, or prompt on the user's screen.
func TestACommandHasNoTerminal(t *testing.T) {
	t.Parallel()
	const pid, group, tty = "1", "5", "7" // fields of stat
	field := func(process, f string) string { return "$(cut -d' ' -f" + f + " /proc/" + process + "/stat)" }
	script := fmt.Sprintf("[ %s = %s ] && echo leads; [ %s != 0 ] && echo pawl has one; [ %s = 0 ] && echo none; : </dev/tty",
		field("$$", pid), field("$$", group), field("$PPID", tty), field("$$", tty))
	for name, want := range map[string]string{
		"pawl has one":  "leads\npawl has one\nnone\n",
		"pawl has none": "leads\nnone\n",
	} {
		t.Run(name, func(t *testing.T) {
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(self)
			cmd.Env = append(os.Environ(), pawlVar+"="+script)
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			if name == "pawl has one" {
				cmd.ExtraFiles = []*os.File{openTerminal(t)}
				cmd.SysProcAttr.Setctty, cmd.SysProcAttr.Ctty = true, 3
			}
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%v: %s", err, out)
			}
			_, got, _ := strings.Cut(string(out), "\n") // the mark
			got, complaint, _ := strings.Cut(got, "bash: ")
			if diff := cmp.Diff(want, got); diff != "" || !strings.Contains(complaint, "/dev/tty") {
				t.Errorf("%s %s", diff, complaint)
			}
		})
	}
}

// openTerminal returns a pseudoterminal.
func openTerminal(t *testing.T) *os.File {
	t.Helper()
	main, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = main.Close() })
	var locked, number int32
	for request, value := range map[uintptr]*int32{syscall.TIOCSPTLCK: &locked, syscall.TIOCGPTN: &number} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, main.Fd(), request, uintptr(unsafe.Pointer(value))); errno != 0 {
			t.Fatal(errno)
		}
	}
	f, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}
