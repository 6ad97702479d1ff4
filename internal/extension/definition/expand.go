package definition

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/extension/frontmatter"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// The limits of an expanded command.
const (
	MaxExpanded = 1 << 20  // bytes
	maxFileText = 64 << 10 // bytes of an included file
	MaxNamed    = 20       // included files
)

// Files returns up to limit bytes of a file of the workspace. The path is
// relative and has no .. elements.
type Files func(path string, limit int64) ([]byte, error)

// FilesIn returns a Files that reads from a tree. A link is an error.
func FilesIn(t frontmatter.Tree) Files {
	return func(path string, limit int64) ([]byte, error) { return frontmatter.Read(t, path, limit) }
}

// Expansion is the prompt of a command.
type Expansion struct {
	Text   string
	Files  []string // included files
	Faults []string // what was left out, and why
}

// token matches placeholders in a command: shell commands, arguments, and file
// names.
var token = regexp.MustCompile("(?m)!`([^`\n]*)`|\\$(ARGUMENTS|[1-9][0-9]*)|(^|[\\s(\"'])@([\\w./$~-]+)")

// Expand inserts arguments and files into a command. $ARGUMENTS is replaced by
// all arguments, $1 to $9 by words; without either, the arguments are
// appended. For @path, the file is appended if it is in the workspace. A shell
// command, !`…`, is not run. Placeholders within arguments and files are not
// expanded.
func (c Command) Expand(args string, files Files) (Expansion, error) {
	x := &expander{args: args, words: SplitArguments(args), files: files}
	var b strings.Builder
	at := 0
	for _, m := range token.FindAllStringSubmatchIndex(c.Body, -1) {
		b.WriteString(c.Body[at:m[0]])
		part := func(n int) string { return c.Body[m[2*n]:m[2*n+1]] }
		switch {
		case m[2] >= 0:
			b.WriteString(x.notRun(part(1)))
		case m[4] >= 0:
			b.WriteString(x.argument(part(2)))
		default:
			b.WriteString(part(3) + x.file(part(4)))
		}
		if at = m[1]; b.Len() > MaxExpanded {
			return Expansion{}, fault.New(pawl.ErrInvalid, "command %s expands to more than %d bytes", sanitize.Line(c.Name), MaxExpanded)
		}
	}
	b.WriteString(c.Body[at:])
	if strings.TrimSpace(args) != "" && !x.used {
		b.WriteString("\n\n" + args)
	}
	for _, section := range x.sections {
		b.WriteString(section)
	}
	if b.Len() > MaxExpanded {
		return Expansion{}, fault.New(pawl.ErrInvalid, "command %s expands to more than %d bytes", sanitize.Line(c.Name), MaxExpanded)
	}
	return Expansion{Text: b.String(), Files: x.named, Faults: x.faults}, nil
}

// expander is the state of one expansion.
type expander struct {
	args     string
	words    []string
	files    Files
	used     bool // the text contains the arguments
	named    []string
	sections []string
	faults   []string
}

// notRun returns the replacement of a shell command, which is not run.
func (x *expander) notRun(line string) string {
	text := fmt.Sprintf("command %s was not run", sanitize.Line(line))
	x.faults = append(x.faults, text)
	return "(" + text + ")"
}

// argument returns the value of a placeholder.
func (x *expander) argument(name string) string {
	n, err := strconv.Atoi(name)
	switch {
	case err != nil && name == "ARGUMENTS":
		x.used = true
		return x.args
	case err != nil || n > 9:
		return "$" + name
	}
	if x.used = true; n <= len(x.words) {
		return x.words[n-1]
	}
	return ""
}

var placeholder = regexp.MustCompile(`\$(ARGUMENTS|[1-9][0-9]*)`)

// file includes a file and returns its name for the text.
func (x *expander) file(spelled string) string {
	trimmed := strings.TrimRight(spelled, ".")
	tail := spelled[len(trimmed):]
	name := placeholder.ReplaceAllStringFunc(trimmed, func(p string) string { return x.argument(p[1:]) })
	path := filepath.Clean(filepath.FromSlash(name))
	if slices.Contains(x.named, path) {
		return "@" + name + tail
	}
	section, err := x.quote(name)
	if err != nil {
		x.faults = append(x.faults, fmt.Sprintf("file %s was not attached: %v", sanitize.Line(name), err))
		return "@" + name + tail
	}
	x.named = append(x.named, path)
	x.sections = append(x.sections, "\n\n"+section)
	return "@" + name + tail
}

func (x *expander) quote(name string) (string, error) {
	if len(x.named) == MaxNamed {
		return "", fault.New(pawl.ErrInvalid, "%d files is the limit", MaxNamed)
	}
	return Quote(name, x.files)
}

// Quote returns the text of a file, quoted for the model; see ReadText.
func Quote(name string, files Files) (string, error) {
	text, err := ReadText(name, files)
	if err != nil {
		return "", err
	}
	return quoted(filepath.Clean(filepath.FromSlash(name)), text), nil
}

// ReadText returns a text file of the workspace in the form in which prompts
// include files.
func ReadText(name string, files Files) (string, error) {
	path := filepath.Clean(filepath.FromSlash(name))
	switch {
	case name == "" || !filepath.IsLocal(path) || strings.HasPrefix(name, "~"):
		return "", fault.New(pawl.ErrDenied, "it is outside the workspace")
	case files == nil:
		return "", fault.New(pawl.ErrDenied, "files cannot be read here")
	}
	data, err := files(path, maxFileText)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fault.New(pawl.ErrNotFound, "not found")
	}
	if err != nil {
		return "", err
	}
	text, replaced := frontmatter.Clean(data)
	if replaced {
		return "", fault.New(pawl.ErrInvalid, "it is not a text file")
	}
	return sanitize.Unhidden(text), nil
}

// quoted quotes a file between delimiter lines that do not occur in it.
func quoted(path, text string) string {
	delimiter := "```"
	for strings.Contains(text, delimiter) {
		delimiter += "`"
	}
	return fmt.Sprintf("The file %s:\n%s\n%s\n%s", sanitize.Line(path), delimiter, strings.TrimRight(text, "\n"), delimiter)
}

// SplitArguments splits at whitespace outside quotes, and removes the quotes.
func SplitArguments(args string) []string {
	var words []string
	var word strings.Builder
	open, begun := rune(0), false
	for _, r := range args {
		switch {
		case open != 0 && r == open:
			open = 0
		case open == 0 && (r == '"' || r == '\''):
			open, begun = r, true
		case open == 0 && unicode.IsSpace(r):
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if begun {
		words = append(words, word.String())
	}
	return words
}
