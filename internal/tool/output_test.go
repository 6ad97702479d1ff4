package tool

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func dropMark(n int) string { return fmt.Sprintf("\n… %d bytes dropped …\n", n) }

func smallOutput(memory, disk int64) *output { return newOutput(memory, disk, func(string) {}) }

// kept is what the output holds from an offset on.
func kept(t interface{ Fatal(...any) }, o *output, from int64) string {
	r, _ := o.since(from)
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestOutput(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		writes []string
		want   string
	}{
		{"nothing", nil, ""},
		{"less than half", []string{"abc"}, "abc"},
		{"all of the memory", []string{"abcdefgh"}, "abcdefgh"},
		{"more than that", []string{"abcdefghij"}, "abcdefghij"},
		{"byte by byte", strings.Split("abcdefghij", ""), "abcdefghij"},
		{"all of the disk", []string{"abcdefghijklmnop"}, "abcdefghijklmnop"},
		{"more than that", []string{"abcdefghijklmnopqr"}, "abcdefghijkl" + dropMark(2) + "opqr"},
		{"more than that, byte by byte", strings.Split("abcdefghijklmnopqr", ""), "abcdefghijkl" + dropMark(2) + "opqr"},
		{"far more", []string{"abcdefgh", strings.Repeat("x", 1000), "wxyz"}, "abcdefghxxxx" + dropMark(996) + "wxyz"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := smallOutput(8, 16)
			defer o.close()
			for _, w := range test.writes {
				if n, err := o.Write([]byte(w)); n != len(w) || err != nil {
					t.Errorf("Write = %d, %v", n, err)
				}
			}
			if diff := cmp.Diff(test.want, kept(t, o, 0)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// However it is written and looked at, what is kept is what was written, but
// for a middle that is too much.
func TestOutputKeepsBeginningAndEnd(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		half := rapid.IntRange(1, 20).Draw(t, "half")
		disk := 2*half + rapid.IntRange(0, 40).Draw(t, "disk")
		o := smallOutput(int64(2*half), int64(disk))
		defer o.close()
		var whole string
		for _, w := range rapid.SliceOf(rapid.StringMatching(`[a-z]{0,30}`)).Draw(t, "writes") {
			whole += w
			_, _ = o.Write([]byte(w))
			from := rapid.IntRange(0, len(whole)).Draw(t, "from")
			want := whole[from:]
			if first, last := disk-half, len(whole)-half; last > max(first, from) && len(whole) > disk {
				want = whole[min(from, first):first] + dropMark(last-max(from, first)) + whole[last:]
			}
			if diff := cmp.Diff(want, kept(t, o, int64(from))); diff != "" {
				t.Fatal(diff)
			}
		}
		if held := len(o.ends.head) + len(o.ends.tail); held > 2*half {
			t.Fatalf("%d bytes are held, the limit is %d", held, 2*half)
		}
	})
}

// The file is private while it has a name, and then it has none.
func TestOutputLeavesNoFile(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	o := smallOutput(8, 100)
	_, _ = o.Write([]byte("more than eight"))
	if info, err := o.file.Stat(); err != nil || info.Mode() != 0o600 || info.Size() != 15 {
		t.Errorf("%v, %v", info, err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) > 0 {
		t.Errorf("%q are left, %v", left, err)
	}
	o.close()
	_, _ = o.Write([]byte("late"))
	if got := kept(t, o, 15); got != "" {
		t.Errorf("a closed output holds %q", got)
	}
	if _, err := o.file.Stat(); err == nil {
		t.Error("the file is still open")
	}
}

// Without a disk the ends are kept, and it says why not the rest.
func TestOutputWithoutADisk(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	o := smallOutput(8, 100)
	_, _ = o.Write([]byte("abcdefghijkl"))
	got := kept(t, o, 0)
	if !strings.HasPrefix(got, "abcd\n… 4 bytes dropped, which could not be kept: ") || !strings.HasSuffix(got, " …\nijkl") {
		t.Errorf("got %q", got)
	}

	t.Setenv("TMPDIR", t.TempDir())
	o = smallOutput(8, 100)
	_, _ = o.Write([]byte("abcdefghij"))
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	data := o.file
	o.file = full
	_, _ = o.Write([]byte("klmnopqr"))
	o.file = data
	if got := kept(t, o, 0); !strings.HasPrefix(got, "abcdefghij\n… 4 bytes dropped, which could not be kept: ") || !strings.HasSuffix(got, "no space left on device …\nopqr") {
		t.Errorf("got %q", got)
	}
	_, _ = full.Close(), data.Close()
}
