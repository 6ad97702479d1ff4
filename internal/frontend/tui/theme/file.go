package theme

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/strictjson"
	"github.com/pawl-dev/pawl/internal/suggest"
)

// File is a user's theme: NAME.json in their themes directory.
type File struct {
	Schema string `json:"$schema,omitempty"`
	Base   string `json:"base,omitempty"` // supplies the colors that are not set; "" means dark
	Colors Colors `json:"colors,omitzero"`
}

// Limits of what is read.
const (
	maxFiles = 200
	maxBytes = 64 << 10
)

// validName matches the names of themes.
var validName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,39}$`)

// Read reads the themes of a directory, which may not exist. Errors name the file and
// say what to do.
func Read(fsys fs.FS) ([]Theme, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	files := map[string]File{}
	var names []string
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || e.IsDir() {
			continue
		}
		if len(names) == maxFiles {
			return nil, fault.New(pawl.ErrInvalid, "more than %d files in the themes directory", maxFiles).Hint("Remove some of them.")
		}
		f, err := readFile(fsys, name)
		if err != nil {
			return nil, fault.New(pawl.ErrInvalid, "%s: %w", e.Name(), err)
		}
		files[name], names = f, append(names, name)
	}
	return inherit(files, names)
}

// readFile reads a theme strictly.
func readFile(fsys fs.FS, name string) (File, error) {
	if !validName.MatchString(name) {
		return File{}, errors.New("invalid theme name: use lower-case letters, digits, - and _")
	}
	if _, taken := Find(name, nil); taken || name == Auto {
		return File{}, fmt.Errorf("%s is a built-in theme: rename the file", name)
	}
	f, err := fsys.Open(name + ".json")
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return File{}, err
	}
	if len(text) > maxBytes {
		return File{}, fmt.Errorf("the file is larger than %d bytes", maxBytes)
	}
	var file File
	if err := strictjson.Decode(text, &file); err != nil {
		return File{}, fmt.Errorf("%w: the colors are %s", err, strings.Join(colorNames(), ", "))
	}
	return file, file.Colors.check()
}

// inherit applies the base of each theme.
func inherit(files map[string]File, names []string) ([]Theme, error) {
	var themes []Theme
	for _, name := range names {
		t, err := derive(files, name, nil)
		if err != nil {
			return nil, fault.New(pawl.ErrInvalid, "%s.json: %w", name, err)
		}
		themes = append(themes, t)
	}
	return themes, nil
}

// derive returns one theme; above are the themes based on it, to detect cycles.
func derive(files map[string]File, name string, above []string) (Theme, error) {
	if slices.Contains(above, name) {
		return Theme{}, fmt.Errorf("the theme is based on itself (%s): use a built-in theme as its base", strings.Join(append(above, name), " on "))
	}
	if t, ok := Find(name, nil); ok {
		return t, nil
	}
	f := files[name]
	base := f.Base
	if base == "" {
		base = NameDark
	}
	_, own := files[base]
	if _, brought := Find(base, nil); !own && !brought {
		return Theme{}, fmt.Errorf("unknown base theme %q%s", base, suggest.Ask("", base, append(Names(nil), slices.Sorted(maps.Keys(files))...)))
	}
	t, err := derive(files, base, append(above, name))
	t.Name, t.Colors = name, f.Colors.withDefaults(t.Colors)
	if f.Colors != (Colors{}) {
		t.Monochrome = false
	}
	return t, err
}

// colorNames returns the JSON names of the colors.
func colorNames() []string {
	t := reflect.TypeFor[Colors]()
	names := make([]string, t.NumField())
	for i := range names {
		names[i], _, _ = strings.Cut(t.Field(i).Tag.Get("json"), ",")
	}
	return names
}

// withDefaults returns the colors with unset ones taken from below.
func (c Colors) withDefaults(below Colors) Colors {
	v, b := reflect.ValueOf(&c).Elem(), reflect.ValueOf(below)
	for i := range v.NumField() {
		if v.Field(i).String() == "" {
			v.Field(i).Set(b.Field(i))
		}
	}
	return c
}

var hex = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)

// check rejects invalid colors.
func (c Colors) check() error {
	v := reflect.ValueOf(c)
	for i, name := range colorNames() {
		if text := v.Field(i).String(); text != "" && !isColor(text) {
			return fmt.Errorf("invalid color %q in colors.%s: use #rrggbb, a number from 0 to 255 of the terminal's palette, or %q", text, name, terminalColor)
		}
	}
	return nil
}

func isColor(text string) bool {
	n, err := strconv.ParseUint(text, 10, 8)
	return hex.MatchString(text) || text == terminalColor || err == nil && strconv.FormatUint(n, 10) == text
}
