package review

import (
	"fmt"
	"strings"
)

// Bounds of what a model is shown.
const (
	maxFile   = 64 << 10  // bytes of one file's part of the patch
	maxChange = 384 << 10 // bytes of all of them
	maxNamed  = 500       // files left out whose names the model gets
)

// Left is a file that was not reviewed, and the reason.
type Left struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// Choose returns the files to show to a model, and those left out: binary files, files that are too large, and
// files that exceed the total limit, in the order of the patch.
func Choose(files []File) (shown []File, left []Left) {
	return choose(files, maxFile, maxChange)
}

func choose(files []File, file, change int) (shown []File, left []Left) {
	budget := change
	for _, f := range files {
		why := ""
		switch {
		case f.Binary():
			why = whyBinary
		case f.Size > file:
			why = fmt.Sprintf("its diff is too large (%d bytes, the limit per file is %d)", f.Size, file)
		case f.Size > budget:
			why = fmt.Sprintf("the change is too large (the limit is %d bytes)", change)
		}
		if why != "" {
			left = append(left, Left{f.Path, why})
			continue
		}
		budget -= f.Size
		shown = append(shown, f)
	}
	return shown, left
}

const whyBinary = "binary file"

// Submodules returns the submodules that a change updates, as files left out. raw is the output of git
// diff-tree --raw -z.
func Submodules(raw []byte) []Left {
	var left []Left
	fields := strings.Split(string(raw), "\x00")
	for i, f := range fields {
		// :100644 160000 id id M, and then the path
		if strings.HasPrefix(f, ":") && i+1 < len(fields) && (strings.HasPrefix(f, ":160000 ") || strings.Contains(f, " 160000 ")) {
			left = append(left, Left{fields[i+1], "submodule: its content is in another repository"})
		}
	}
	return left
}
