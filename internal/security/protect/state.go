package protect

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	stdhash "hash"
	"regexp"
	"slices"
	"strings"
)

// hash is the object format of a repository.
type hash struct {
	size int // bytes of an object id
	new  func() stdhash.Hash
}

var (
	sha1Hash   = hash{sha1.Size, sha1.New}
	sha256Hash = hash{sha256.Size, sha256.New}
)

// stateFile is a rule for a file that git keeps its state in.
type stateFile struct {
	check func(data []byte, h hash) string // returns why the contents are refused, or ""; nil allows any
	limit int64
}

// stateFiles are the files at the top of a git directory, without those that end with _HEAD or _MSG.
var stateFiles = map[string]stateFile{
	"HEAD":        {checkRef, maxState},
	"packed-refs": {checkPackedRefs, maxLarge},
	"shallow":     {checkIDs, maxState},
	"index":       {checkIndex, maxLarge},

	"AUTO_MERGE": {checkRef, maxState}, "MERGE_AUTOSTASH": {checkRef, maxState}, "BISECT_EXPECTED_REV": {checkRef, maxState},
	"FETCH_HEAD": {}, "MERGE_MODE": {}, "MERGE_RR": {}, "COMMIT_EDITMSG": {}, "TAG_EDITMSG": {}, "NOTES_EDITMSG": {}, "EDIT_DESCRIPTION": {},
	"NOTES_MERGE_PARTIAL": {checkRef, maxState}, "NOTES_MERGE_REF": {checkRef, maxState},
	"ADD_EDIT.patch": {}, "addp-hunk-edit.diff": {}, "description": {}, "gc.log": {}, "locked": {},
	"BISECT_ANCESTORS_OK": {}, "BISECT_FIRST_PARENT": {}, "BISECT_LOG": {}, "BISECT_NAMES": {}, "BISECT_RUN": {}, "BISECT_START": {}, "BISECT_TERMS": {},
}

var (
	sharedIndex = regexp.MustCompile(`^sharedindex\.[0-9a-f]+$`)
	stateHead   = regexp.MustCompile(`^(ORIG|MERGE|REBASE|CHERRY_PICK|REVERT|BISECT)_HEAD$`)
	stateText   = regexp.MustCompile(`^(MERGE|SQUASH)_MSG$`)
)

// stateRule returns the rule for an entry outside of the objects. Unknown entries have none.
func stateRule(first, below, rest string) (stateFile, bool) {
	free := stateFile{}
	switch {
	case stateHead.MatchString(rest):
		return stateFile{checkIDs, maxState}, true
	case stateText.MatchString(rest):
		return free, true
	case sharedIndex.MatchString(rest):
		return stateFile{checkIndex, maxLarge}, true
	}
	switch first {
	case "refs":
		return stateFile{checkRef, maxState}, below == "" || validRef(rest)
	case "logs":
		return free, below == "" || below == "HEAD" || validRef(below) || below == "refs"
	case "rr-cache":
		return free, true
	case "branches": // the directory is created empty; a file in it names a remote
		return free, below == ""
	case "info":
		return free, slices.Contains([]string{"", "exclude", "refs", "sparse-checkout"}, below)
	case "rebase-merge", "rebase-apply", "sequencer":
		return stateFile{rebaseFiles[below], maxState}, true
	}
	rule, ok := stateFiles[rest]
	return rule, ok
}

// rebaseFiles are the files of an interrupted rebase, cherry-pick or am that decide what git runs when it continues.
var rebaseFiles = map[string]func([]byte, hash) string{
	"git-rebase-todo":        checkTodo,
	"git-rebase-todo.backup": checkTodo,
	"todo":                   checkTodo,
	"done":                   checkTodo,
	"author-script":          matches(`(GIT_AUTHOR_(NAME|EMAIL|DATE)='([^']|'\\['!]')*'\n)*`, "the author script has commands"),
	"strategy":               checkStrategy,
	"gpg_sign_opt":           matches(`(-S[A-Za-z0-9@._+<> -]*)?\n?`, "the rebase has unknown signing options"),
	"apply-opt":              matches(`([ \n]|'?(-3|--3way|-p[0-9]+|-C[0-9]+|--whitespace=[a-z-]+|--ignore-whitespace|--ignore-space-change|--reject)'?)*`, "the patches have unknown options"),
	"opts":                   checkSequencerOptions,
}

var checkStrategy = matches(`(ort|recursive|resolve|ours|subtree|octopus)?\n?`, "the rebase has an unknown merge strategy")

// matches returns a check that the whole contents match a pattern.
func matches(pattern, reason string) func([]byte, hash) string {
	whole := regexp.MustCompile(`^(?:` + pattern + `)$`)
	return func(data []byte, _ hash) string {
		if whole.Match(data) {
			return ""
		}
		return reason
	}
}

// todoCommands are the commands of a rebase that run no program.
var todoCommands = strings.Fields("pick p reword r edit e squash s fixup f drop d label l reset t merge m update-ref u revert noop break b")

// checkTodo refuses a list of commits to rebase that runs programs.
func checkTodo(data []byte, _ hash) string {
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		command := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' })[0]
		switch {
		case command == "exec" || command == "x":
			return "the interrupted rebase runs a program when it continues"
		case !slices.Contains(todoCommands, command):
			return "the interrupted rebase has an unknown command"
		}
	}
	return ""
}

// checkSequencerOptions refuses options of a cherry-pick that run other programs.
func checkSequencerOptions(data []byte, _ hash) string {
	c, err := parseConfig(data)
	if err != nil {
		return "the options of the cherry-pick are not valid"
	}
	return checkStrategy([]byte(c.get("options", "strategy")), hash{})
}

// checkRef refuses the contents of a ref that are neither an object id nor the name of another ref.
func checkRef(data []byte, h hash) string {
	text := strings.TrimSuffix(string(data), "\n")
	if name, ok := strings.CutPrefix(text, "ref: "); ok && validRef(name) || validID(text, h) {
		return ""
	}
	return "it is not a valid ref"
}

// checkIDs refuses anything but object ids on lines.
func checkIDs(data []byte, h hash) string {
	for line := range strings.Lines(string(data)) {
		if !validID(strings.TrimSuffix(line, "\n"), h) {
			return checkRef(data, h)
		}
	}
	return ""
}

var packedLine = regexp.MustCompile(`^(?:#[^\n]*|\^([0-9a-f]+)|([0-9a-f]+) ([^ \n]+))\n?$`)

func checkPackedRefs(data []byte, h hash) string {
	for line := range bytes.Lines(data) {
		m := packedLine.FindSubmatch(line)
		if m == nil || len(m[1])+len(m[2]) > 0 && !validID(string(m[1])+string(m[2]), h) || len(m[3]) > 0 && !validRef(string(m[3])) {
			return "packed-refs has a ref that is replaced or not valid"
		}
	}
	return ""
}

func validID(s string, h hash) bool {
	return len(s) == 2*h.size && strings.Trim(s, "0123456789abcdef") == ""
}

// validRef reports whether a name is that of a ref as git check-ref-format accepts it, and neither one of refs/replace,
// which substitutes objects, nor one that a program takes for an option.
func validRef(name string) bool {
	elements := strings.Split(name, "/")
	if len(elements) < 2 || elements[0] != "refs" || FoldName(elements[1]) == "replace" || strings.HasSuffix(name, ".") {
		return false
	}
	for _, e := range elements {
		if e == "" || e == "@" || strings.HasPrefix(e, ".") || strings.HasPrefix(e, "-") || strings.HasSuffix(e, ".lock") ||
			strings.Contains(e, "..") || strings.Contains(e, "@{") || strings.ContainsAny(e, " ~^:?*[\\\x7f") || strings.ContainsFunc(e, func(r rune) bool { return r < ' ' }) {
			return false
		}
	}
	return true
}
