package session

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestExportIsWhole checks that an export leaves a complete file or none, and that a failed one does not replace an
// existing file.
func TestExportIsWhole(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	fails := func(w io.Writer) error {
		_, _ = io.WriteString(w, "half")
		return broken
	}
	works := func(w io.Writer) error {
		_, err := io.WriteString(w, "new")
		return err
	}
	for _, test := range []struct {
		name   string
		before string // "" means that there is no file
		force  bool
		write  func(io.Writer) error
		want   string
		err    error
	}{
		{"new", "", false, works, "new", nil},
		{"new, by force", "", true, works, "new", nil},
		{"it is there", "old", false, works, "old", os.ErrExist},
		{"replaced", "old", true, works, "new", nil},
		{"it fails", "", false, fails, "", broken},
		{"it fails to replace", "old", true, fails, "old", broken},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			f := ExportFlags{File: filepath.Join(dir, "out.md"), force: test.force}
			if test.before != "" {
				if err := os.WriteFile(f.File, []byte(test.before), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := f.Output(io.Discard, test.write); !errors.Is(err, test.err) {
				t.Errorf("got %v, want %v", err, test.err)
			}
			text, err := os.ReadFile(f.File)
			if string(text) != test.want || (err != nil) != (test.want == "") {
				t.Errorf("the file holds %q, %v; want %q", text, err, test.want)
			}
			if list, err := os.ReadDir(dir); err != nil || len(list) > 1 {
				t.Errorf("something is left behind: %v, %v", list, err)
			}
		})
	}
}
