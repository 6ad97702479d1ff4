package gate

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// corpusStory is a project and a change to it, with the verdicts that the gate may give the change. It is a
// file of testdata/corpus; README.md there documents the format.
type corpusStory struct {
	kind    string // cheats or honest
	name    string
	summary string
	keys    map[string][]string
	base    map[string]string
	change  map[string]string // the whole text of each file that the change writes
}

// corpusKeys are the keys that a story may have.
var corpusKeys = []string{
	"on", "verdict", "approve", "delete", "rename", "check", "link", "exec", "gitlink", "naive", "base", "open",
}

// corpusVerdicts are the words of the key verdict, by kind of story.
var corpusVerdicts = map[string][]string{
	"cheats": {"failed", "checked", "no-code"},
	"honest": {"proven", "checked", "no-code", "question"},
}

// corpusSizes are the numbers of stories that the corpus must have at least, by kind.
var corpusSizes = map[string]int{"cheats": 200, "honest": 80}

// TestCorpusIsWellFormed: every story can be read, every base is used, and there are enough stories.
func TestCorpusIsWellFormed(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for kind, least := range corpusSizes {
		list := readCorpus(t, kind)
		if len(list) < least {
			t.Errorf("%d %s, want at least %d", len(list), kind, least)
		}
		for _, s := range list {
			for _, name := range s.keys["on"] {
				used[name] = true
			}
			if len(s.base) == 0 {
				t.Errorf("%s/%s: the base is empty", kind, s.name)
			}
		}
	}
	bases, err := filepath.Glob(filepath.Join("testdata", "corpus", "bases", "*.txtar"))
	fatal(t, err)
	for _, path := range bases {
		if name := strings.TrimSuffix(filepath.Base(path), ".txtar"); !used[name] {
			t.Errorf("no story is on the base %s", name)
		}
	}
}

// readCorpus returns the stories of a kind (cheats or honest), sorted by name.
func readCorpus(t testing.TB, kind string) []corpusStory {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "corpus", kind, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	var list []corpusStory
	for _, path := range paths {
		list = append(list, readCorpusStory(t, path))
	}
	return list
}

func readCorpusStory(t testing.TB, path string) corpusStory {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := corpusStory{
		kind: filepath.Base(filepath.Dir(path)), name: strings.TrimSuffix(filepath.Base(path), ".txtar"),
		keys: map[string][]string{}, base: map[string]string{}, change: map[string]string{},
	}
	for line := range strings.Lines(string(archive.Comment)) {
		line = strings.TrimSpace(line)
		if text, ok := strings.CutPrefix(line, "#"); ok {
			s.summary = strings.TrimSpace(s.summary + " " + strings.TrimSpace(text))
		} else if key, value, ok := strings.Cut(line, ":"); ok && slices.Contains(corpusKeys, key) {
			s.keys[key] = append(s.keys[key], strings.TrimSpace(value))
		} else if line != "" {
			t.Fatalf("%s: unknown key in line %q", path, line)
		}
	}
	s.readFiles(t, path, archive.Files)
	if s.summary == "" {
		t.Errorf("%s: no summary", path)
	}
	for _, verdict := range append(s.verdicts(), "") {
		if verdict == "" && len(s.verdicts()) > 0 {
			continue
		}
		if !slices.Contains(corpusVerdicts[s.kind], verdict) {
			t.Errorf("%s: verdict %q is not one of %q", path, verdict, corpusVerdicts[s.kind])
		}
	}
	return s
}

// readFiles reads the base project and the files below base/, edit/ and change/.
func (s corpusStory) readFiles(t testing.TB, path string, files []txtar.File) {
	t.Helper()
	for _, name := range s.keys["on"] {
		project, err := txtar.ParseFile(filepath.Join("testdata", "corpus", "bases", name+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range project.Files {
			s.base[f.Name] = string(f.Data)
		}
	}
	for _, f := range files {
		kind, name, _ := strings.Cut(f.Name, "/")
		switch kind {
		case "base":
			s.base[name] = string(f.Data)
		case "change":
			s.change[name] = string(f.Data)
		case "edit":
			s.change[name] = editText(t, path, name, s.original(name), string(f.Data))
		default:
			t.Fatalf("%s: %s is not below base/, edit/ or change/", path, f.Name)
		}
	}
}

// original returns the text of a file before the change, under its new path.
func (s corpusStory) original(name string) string {
	for _, pair := range s.keys["rename"] {
		if from, to, _ := strings.Cut(pair, " "); to == name {
			name = from
		}
	}
	return s.base[name]
}

// editText applies hunks to a text. A hunk is like one of a unified diff without line numbers; lines that
// begin with @@ separate hunks. The old lines must occur exactly once; a hunk without old lines is appended.
func editText(t testing.TB, path, name, text, edits string) string {
	t.Helper()
	for hunk := range strings.SplitSeq("\n"+edits, "\n@@") {
		_, hunk, _ = strings.Cut(hunk, "\n")
		var before, after strings.Builder
		for line := range strings.Lines(hunk) {
			switch line[0] {
			case '-':
				before.WriteString(line[1:])
			case '+':
				after.WriteString(line[1:])
			case ' ', '\n':
				before.WriteString(strings.TrimPrefix(line, " "))
				after.WriteString(strings.TrimPrefix(line, " "))
			default:
				t.Fatalf("%s: edit of %s: line %q does not begin with +, - or a space", path, name, line)
			}
		}
		old := completeLine(before.String())
		if old == "" {
			text += after.String()
			continue
		}
		if n := strings.Count("\n"+text, "\n"+old); n != 1 {
			t.Errorf("%s: edit of %s: the old lines occur %d times, want 1:\n%s", path, name, n, old)
		}
		text = strings.Replace("\n"+text, "\n"+old, "\n"+completeLine(after.String()), 1)[1:]
	}
	return text
}

// completeLine adds the newline that the last line of a hunk may lack.
func completeLine(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// verdicts returns the acceptable verdicts.
func (s corpusStory) verdicts() []string {
	return strings.Fields(strings.Join(s.keys["verdict"], " "))
}

// has reports whether the story has this value for a key.
func (s corpusStory) has(key, value string) bool { return slices.Contains(s.keys[key], value) }

// writeBase writes the files of the base to a directory.
func (s corpusStory) writeBase(t testing.TB, dir string) {
	t.Helper()
	s.write(t, dir, s.base)
}

// applyChange changes the base in a directory to the candidate.
func (s corpusStory) applyChange(t testing.TB, dir string) {
	t.Helper()
	for _, pair := range s.keys["rename"] {
		from, to, _ := strings.Cut(pair, " ")
		fatal(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, to)), 0o700))
		fatal(t, os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)))
	}
	for _, name := range s.keys["delete"] {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		fatal(t, os.RemoveAll(filepath.Join(dir, name)))
	}
	s.write(t, dir, s.change)
	for _, pair := range s.keys["link"] {
		name, target, _ := strings.Cut(pair, " ")
		fatal(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		fatal(t, os.Symlink(target, filepath.Join(dir, name)))
	}
}

// write writes files. Those that begin with #! and those of the key exec are executable.
func (s corpusStory) write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		fatal(t, os.MkdirAll(filepath.Dir(path), 0o700))
		mode := os.FileMode(0o600)
		if strings.HasPrefix(text, "#!") || s.has("exec", name) {
			mode = 0o700
		}
		fatal(t, os.WriteFile(path, []byte(text), mode))
		fatal(t, os.Chmod(path, mode)) // the file may have existed with another mode
	}
}

// commit makes a repository in an empty directory with the base and the candidate as commits.
func (s corpusStory) commit(t testing.TB, dir string) (base, head string) {
	t.Helper()
	git := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "core.autocrlf=false"}, args...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	record := func() string {
		git("add", "-A", "-f")
		return git("commit", "-q", "--allow-empty", "-m", "c") + git("rev-parse", "HEAD")
	}
	git("init", "-q", "-b", "main", ".")
	gitlinks := func(which int) {
		for _, link := range s.keys["gitlink"] {
			words := strings.Fields(link) // the path and its commit before and after the change
			if words[which] == "-" {
				continue
			}
			fatal(t, os.MkdirAll(filepath.Join(dir, words[0]), 0o700))
			git("update-index", "--add", "--cacheinfo", "160000,"+words[which]+","+words[0])
		}
	}
	s.writeBase(t, dir)
	gitlinks(1)
	base = record()
	s.applyChange(t, dir)
	gitlinks(2)
	return base, record()
}

func fatal(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
