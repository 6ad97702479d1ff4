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

// keeperVar is in the environment of a keeper: whom it keeps.
const keeperVar = "PAWL_KEEPER"

// A keeper is this same binary, so init is where it branches off: before main,
// and before other packages have set themselves up.
func init() {
	if mark := os.Getenv(keeperVar); mark != "" {
		keep(mark)
		os.Exit(0)
	}
}

// keep waits for the end of pawl, whose pipe is file 3, then reaps what it left.
func keep(mark string) {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	_, _ = io.Copy(io.Discard, os.NewFile(3, "pawl"))
	Reap(mark)
}

// keeper starts this process's keeper, once, when the first command is run.
// The pipe's other end stays open until the process ends, in whatever way.
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
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // a terminal's Ctrl-C is not for it
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
