package project

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/extension/definition"
)

// mentioned matches the files that a prompt mentions: @path, or @"path" with spaces.
var mentioned = regexp.MustCompile(`(?:^|[\s("'\[{])@(?:"([^"\n]+)"|([^\s"'@]+))`)

// trailing are the characters after a path that do not belong to it.
const trailing = ".,;:!?)]}>'\""

// mention attaches the mentioned files. A file that is attached already is read again. A name that does not exist, or is a directory, is
// left as it is.
func (e *expansion) mention(ctx context.Context, words string) error {
	names := mentions(words)
	if len(names) == 0 {
		return nil
	}
	files, err := e.readable(ctx)
	if err != nil {
		return err
	}
	added := 0
	for _, name := range names {
		if added == definition.MaxNamed {
			e.notes = append(e.notes, fmt.Sprintf("@%s and later files were not attached: %d files is the limit", name, added))
			return nil
		}
		text, err := definition.ReadText(name, files)
		switch {
		case err == nil:
			e.attach(pawl.File{Name: filepath.ToSlash(name), MediaType: "text/plain", Data: []byte(text)})
			added++
		case errors.Is(err, pawl.ErrNotFound), errors.Is(err, errIsDir):
		default:
			e.notes = append(e.notes, fmt.Sprintf("@%s was not attached: %v", name, err))
		}
	}
	return nil
}

// attach adds a file to the prompt, or replaces the one of the same name.
func (e *expansion) attach(f pawl.File) {
	same := func(p pawl.Part) bool {
		other, ok := p.(pawl.File)
		return ok && other.Name == f.Name
	}
	if i := slices.IndexFunc(e.prompt.Parts, same); i >= 0 {
		e.prompt.Parts[i] = f
		return
	}
	e.prompt.Parts = append(e.prompt.Parts, f)
}

// lines matches a line range after a path. The whole file is attached all the same.
var lines = regexp.MustCompile(`:[0-9]+(?:-[0-9]+)?$`)

// mentions returns the names that could be files, each once.
func mentions(words string) []string {
	var names []string
	for _, m := range mentioned.FindAllStringSubmatch(words, -1) {
		name := m[1]
		if name == "" {
			name = lines.ReplaceAllString(strings.TrimRight(m[2], trailing), "")
		}
		name = filepath.Clean(filepath.FromSlash(name))
		if name == "." || serverName.MatchString(name) || slices.Contains(names, name) {
			continue
		}
		names = append(names, name)
	}
	return names
}

// serverName matches the beginning of a resource of an MCP server: server:uri.
var serverName = regexp.MustCompile(`^[a-zA-Z0-9_-]+:`)
