package harness

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/pawl-dev/pawl/internal/test/security/weaken"
)

// environ is the environment before tests change it: another HOME has another build cache.
var environ = os.Environ()

var binaries sync.Map // name and tags -> func() (string, error)

// Binary returns the path of a pawl that is built with the given tags; with sectest
// it is a weakened one (package weaken). All test processes of a checkout share it:
// it is rebuilt only if its source has changed.
func Binary(t testing.TB, tags string) string {
	t.Helper()
	return binary(t, "pawl", tags)
}

// FakeProvider returns the path of pawl-fakeprovider, which is in the directory of
// the pawl that Binary builds without tags.
func FakeProvider(t testing.TB) string {
	t.Helper()
	return binary(t, "pawl-fakeprovider", "")
}

// Fleet returns the path of pawl-fleet.
func Fleet(t testing.TB) string {
	t.Helper()
	return binary(t, "pawl-fleet", "")
}

func binary(t testing.TB, name, tags string) string {
	t.Helper()
	build, _ := binaries.LoadOrStore([2]string{name, tags}, sync.OnceValues(func() (string, error) { return buildBinary(name, tags) }))
	bin, err := build.(func() (string, error))()
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// buildBinary runs go build, which does nothing if the binary is up to date. The lock
// keeps two test processes from linking the same binary.
func buildBinary(name, tags string) (string, error) {
	_, file, _, _ := runtime.Caller(0)
	root := filepath.Join(filepath.Dir(file), "..", "..", "..")
	dir := filepath.Join(root, "bin", "test", cmp.Or(strings.ReplaceAll(tags, ",", "-"), "default"))
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // some tests run it as another user
		return "", err
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	bin := filepath.Join(dir, name)
	args := []string{"build", "-buildvcs=false", "-tags", tags, "-ldflags", "-s -w", "-o", bin}
	if slices.Contains(strings.Split(tags, ","), "sectest") {
		overlay, err := weaken.Overlay(root)
		if err != nil {
			return "", err
		}
		args = append(args, "-overlay", overlay)
	}
	cmd := exec.Command("go", append(args, "./cmd/"+name)...) //nolint:gosec // fixed words
	cmd.Dir, cmd.Env = root, append(slices.Clip(environ), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", name, err, out)
	}
	return bin, nil
}
