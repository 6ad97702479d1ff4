package proc

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
)

// keeperVar is set in the environment of a keeper, to the mark of the processes
// that it has to kill.
const keeperVar = "PAWL_KEEPER"

// The keeper runs the same binary. It branches off in init: before main, and before
// most other packages are initialized.
func init() {
	if mark := os.Getenv(keeperVar); mark != "" {
		keep(mark)
		os.Exit(0)
	}
}

// keep waits until pawl ends, which closes the pipe at file descriptor 3, and then
// kills its remaining commands.
func keep(mark string) {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	_, _ = io.Copy(io.Discard, os.NewFile(3, "pawl"))
	Reap(mark)
}

// keeper starts the keeper of this process, once, with the first command. The write
// end of the pipe stays open until this process ends, in whatever way.
var keeper = sync.OnceValue(func() error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("start keeper: %w", err)
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("start keeper: %w", err)
	}
	defer theirs.Close()
	cmd := exec.Command(self)
	cmd.Args = []string{"pawl-keeper"}
	cmd.Env = []string{keeperVar + "=" + Self().Mark}
	cmd.Dir = "/"
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // so that Ctrl-C in the terminal does not reach it
	if err := cmd.Start(); err != nil {
		_ = ours.Close()
		return fmt.Errorf("start keeper: %w", err)
	}
	go func() {
		_ = cmd.Wait()
		runtime.KeepAlive(ours) // the pipe must stay open as long as the keeper lives
	}()
	return nil
})
