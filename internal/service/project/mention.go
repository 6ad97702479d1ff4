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

// mentioned finds the names of files in a person's words: @path, or @"path" with
// blanks in it.
var mentioned = regexp.MustCompile(`(?:^|[\s("'\[{])@(?:"([^"\n]+)"|([^\s"'@]+))`)

// around is what stands behind a name and does not belong to it.
const trailing = ".,;:!?)]}>'\""

// mention adds the files that words name, as further texts. A name of nothing that
// is there, or of a directory, is a word like any other.
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
			e.notes = append(e.notes, fmt.Sprintf("@%s was not attached, nor what comes behind it: there are %d files already", name, added))
			return nil
		}
		text, err := definition.Quote(name, files)
		switch {
		case err == nil:
			e.prompt.Parts = append(e.prompt.Parts, pawl.Text{Text: text})
			added++
		case errors.Is(err, pawl.ErrNotFound), errors.Is(err, errIsDir):
		default:
			e.notes = append(e.notes, fmt.Sprintf("@%s was not attached: %v", name, err))
		}
	}
	return nil
}

// lines are those of a file that a person means: all of it is attached.
var lines = regexp.MustCompile(`:[0-9]+(?:-[0-9]+)?$`)

// mentions returns the names that could be those of files, each once.
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

// serverName is how the name of a server's document begins: server:uri.
var serverName = regexp.MustCompile(`^[a-zA-Z0-9_-]+:`)
