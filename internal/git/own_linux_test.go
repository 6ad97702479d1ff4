package git

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOwnHold: git keeps the file in Hold open as long as it runs.
func TestOwnHold(t *testing.T) {
	t.Parallel()
	o := newOwn(t)
	held, err := os.Create(filepath.Join(t.TempDir(), "held"))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	in, end := io.Pipe()
	err = o.Run(t.Context(), OwnCall{Args: []string{"cat-file", "--batch-check", "--buffer"}, In: in, Hold: held, Out: func(r io.Reader) error {
		defer end.Close()
		found, err := filepath.Glob("/proc/[0-9]*/fd/3")
		for _, fd := range found {
			if target, _ := os.Readlink(fd); target == held.Name() && !strings.Contains(fd, fmt.Sprintf("/%d/", os.Getpid())) {
				return err
			}
		}
		return errors.New("nobody holds it")
	}})
	if err != nil {
		t.Error(err)
	}
}
