//go:build e2e

package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

// openTerminal returns a terminal for a program and what is seen on it, once the
// program has ended and the terminal is closed.
func openTerminal(t *testing.T) (terminal *os.File, seen func() string) {
	t.Helper()
	main, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	var locked, number int32
	for request, value := range map[uintptr]*int32{syscall.TIOCSPTLCK: &locked, syscall.TIOCGPTN: &number} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, main.Fd(), request, uintptr(unsafe.Pointer(value))); errno != 0 {
			t.Fatal(errno)
		}
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	text := make(chan string, 1)
	go func() {
		data, _ := io.ReadAll(main) // it ends with an error when nobody has the terminal any more
		text <- string(data)
	}()
	return terminal, func() string {
		_ = terminal.Close()
		defer main.Close()
		return <-text
	}
}

// TestNothingSteersALiveTerminal: at a terminal the text is shown as it comes, in
// pieces that may cut a sequence anywhere. Row G1.
func TestNothingSteersALiveTerminal(t *testing.T) {
	t.Parallel()
	b := harness.NewWorkdir(t, harness.Binary(t, ""), harness.Stores["sqlite"](t))
	b.Write(t, "s.jsonl", hostileScript(t))
	terminal, seen := openTerminal(t)
	cmd := b.Command("run", "--mode", "yolo", "--model", "script:s.jsonl", "go")
	cmd.Stdout, cmd.Stderr = terminal, terminal
	if err := cmd.Run(); err == nil {
		t.Error("the script ends with an error, and pawl does not")
	}
	text := strings.ReplaceAll(seen(), "\r\n", "\n") // as the terminal's driver has it
	if sanitize.Text(text) != text {
		t.Errorf("the terminal was given %q", text)
	}
	for _, want := range []string{"oklink", "evil\n", "• bash"} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in %q", want, text)
		}
	}
}

// TestNoPageOnATerminal: a page is for a file, and pawl says how to get it there.
func TestNoPageOnATerminal(t *testing.T) {
	t.Parallel()
	b := harness.NewWorkdir(t, harness.Binary(t, ""), harness.Stores["sqlite"](t))
	b.Write(t, "s.jsonl", `{"text":"hello"}`)
	b.Run(t, "run", "--model", "script:s.jsonl", "hi")
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"--format", "html"}, "add -o session.html"},
		{[]string{"--format", "md"}, "### Pawl"},
	} {
		terminal, seen := openTerminal(t)
		cmd := b.Command(append([]string{"session", "export", "last"}, test.args...)...)
		cmd.Stdout, cmd.Stderr = terminal, terminal
		err := cmd.Run()
		if text := seen(); !strings.Contains(text, test.want) || strings.Contains(text, "<html") || (err == nil) != (test.args[1] == "md") {
			t.Errorf("%v: %v: %s", test.args, err, text)
		}
	}
}
