package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// leaked is a file as a careless parent leaves it to this process.
const leaked = 77

// TestMain lets a copy of the test program be the hostile command, in a sandbox:
// its first argument is then probe; or a program that renames: then it is rename.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "probe" {
		os.Exit(probe(os.Args[2], os.Args[3:]))
	}
	if len(os.Args) > 2 && os.Args[1] == "rename" {
		os.Exit(renameProgram(os.Args[2], os.Args[3:]))
	}
	if os.Geteuid() == 0 && os.Getenv(baseVar) == "" {
		os.Exit(runApart())
	}
	if source := os.Getenv(sourceVar); source != "" {
		if err := unix.Mount(source, apartDir, "", unix.MS_BIND, ""); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		_ = os.Unsetenv(sourceVar)
	}
	os.Exit(m.Run())
}

// The tests make servers' sockets where a sandbox shows them, and remove them.
// Sandboxes that other test processes start at that moment would fail: they mask
// each socket that they see. So the tests run in a mount namespace of their own,
// in which this directory is another one.
const (
	apartDir  = "/var/lib/pawl-box-test"
	sourceVar = "SANDBOX_TEST_SOURCE"
)

// runApart runs this program again in a mount namespace of its own and returns
// its exit status.
func runApart() int {
	source, err := os.MkdirTemp("/var/tmp", "pawl-box-test-")
	if err == nil {
		err = errors.Join(os.Chmod(source, 0o755), os.MkdirAll(apartDir, 0o755))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(source) }()
	cmd := exec.Command(os.Args[0], os.Args[1:]...)
	cmd.Env = append(os.Environ(), baseVar+"="+apartDir, sourceVar+"="+source)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	err = cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return cmd.ProcessState.ExitCode()
}
