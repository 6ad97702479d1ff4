package git

import (
	"strings"
	"testing"
)

// Whatever part of the output is missing, the files that are known have whole lines of their own patch,
// and say that it is cut.
func TestReadFileDiffsWithALimit(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	w.file("sub/g", "g\nand more\n")
	w.must("mv", "f", "moved")
	repo := w.repo()
	paths := []string{"f", "moved", "sub/g"}
	whole, err := repo.DiffHead(t.Context(), paths, 1<<20)
	if err != nil || len(whole) == 0 {
		t.Fatalf("%v, %v", whole, err)
	}
	size := 0
	for _, f := range whole {
		size += len(f.Patch)
	}
	for limit := int64(size) + 1000; limit > 0; limit-- {
		files, err := repo.DiffHead(t.Context(), paths, limit)
		if err != nil {
			break // not even the list of files
		}
		for i, f := range files {
			if !strings.HasPrefix(whole[i].Patch, f.Patch) || f.Cut != (f.Patch != whole[i].Patch) || f.Patch != "" && !strings.HasSuffix(f.Patch, "\n") {
				t.Fatalf("limit %d: %+v, want the beginning of %q", limit, f, whole[i].Patch)
			}
		}
		if limit > 200 {
			limit -= 20 // git runs each time
		}
	}
	if last := whole[len(whole)-1]; last.Path != "sub/g" || last.Added != 1 || last.Cut {
		t.Errorf("%+v", last)
	}
}
