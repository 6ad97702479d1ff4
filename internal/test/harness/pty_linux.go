package harness

import (
	"fmt"
	"io"
	"os"
	"syscall"
	"testing"
	"unsafe"
)

// RecordTerminal opens a pseudo-terminal for a program. seen closes it and returns
// the output; call it after the program has ended.
func RecordTerminal(t testing.TB) (terminal *os.File, seen func() string) {
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
		data, _ := io.ReadAll(main) // ends with an error once no process has the terminal open
		text <- string(data)
	}()
	return terminal, func() string {
		_ = terminal.Close()
		defer main.Close()
		return <-text
	}
}
