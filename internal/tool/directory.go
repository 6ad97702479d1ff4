package tool

import (
	"path/filepath"

	"github.com/pawl-dev/pawl/internal/tool/toolapi"
	"github.com/pawl-dev/pawl/internal/workspace"
)

// openWorkspace opens the directories of a call's session.
func openWorkspace(call toolapi.Call) (*workspace.Workspace, error) {
	return workspace.Open(call.Dir, call.Dirs...)
}

// relative returns a path of a call as the log and the model name it: relative to the
// workspace, and absolute in further project directories.
func relative(call toolapi.Call, path string) (string, error) {
	return workspace.Rel(call.Dir, path, call.Dirs...)
}

// locate returns the project directory that such a path is in, and the path in it.
func locate(call toolapi.Call, path string) (dir, rel string) {
	if dir, rel, ok := workspace.Locate(path, call.Dirs...); ok {
		return dir, rel
	}
	return call.Dir, path
}

// pathIn is the reverse of locate.
func pathIn(call toolapi.Call, dir, rel string) string {
	if dir == call.Dir {
		return rel
	}
	return filepath.Join(dir, rel)
}
