package language

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// A rule bans a word or a phrase. The parts that are not set match nothing.
type rule struct {
	name string // how exceptions.txt refers to it
	say  string // what to write instead

	words  []string       // banned as a word within an identifier or a file name, singular or plural
	names  []string       // banned as a whole identifier, exported or not
	exact  []string       // banned as a whole identifier, spelled like this
	funcs  []string       // banned as the name of a function or method
	legit  *regexp.Regexp // identifiers that the rule does not apply to
	files  []string       // banned as a whole file name, without suffixes
	prose  *pattern       // banned in comments and Markdown
	unless *pattern       // what makes a match of prose legitimate if it stands around it
	in     []string       // the path prefixes that the rule applies to; all if empty
}

func (r *rule) applies(file string) bool {
	return len(r.in) == 0 || slices.ContainsFunc(r.in, func(prefix string) bool {
		return strings.HasPrefix(file, prefix) || prefix == rootPackage && path.Dir(file) == "."
	})
}

func (r *rule) matchesFile(base string) bool {
	return slices.Contains(r.files, strings.TrimSuffix(base, "_test"))
}

func (r *rule) matchesIdentifier(name string) bool {
	if r.legit != nil && r.legit.MatchString(name) {
		return false
	}
	if slices.Contains(r.exact, name) {
		return true
	}
	for _, n := range r.names {
		if name == n || name == strings.ToUpper(n[:1])+n[1:] {
			return true
		}
	}
	if len(r.words) == 0 {
		return false
	}
	return slices.ContainsFunc(words(name), func(w string) bool {
		return slices.Contains(r.words, w) || slices.Contains(r.words, strings.TrimSuffix(w, "s"))
	})
}

// A pattern finds whole words, in any case, also across line breaks. It is tried only on texts that contain one of its
// hints, because a regular expression is slow.
type pattern struct {
	hints []string
	re    *regexp.Regexp
}

// p returns a pattern. Every match contains one of the hints, which are literals in lower case, separated by bars.
func p(hints, expression string) *pattern {
	return &pattern{strings.Split(hints, "|"), regexp.MustCompile(`\b(?:` + strings.ReplaceAll(expression, " ", `[\s/]+`) + `)`)}
}

// find returns where the pattern matches in a text in lower case.
func (p *pattern) find(text string) [][]int {
	if !slices.ContainsFunc(p.hints, func(hint string) bool { return strings.Contains(text, hint) }) {
		return nil
	}
	return p.re.FindAllStringIndex(text, -1)
}

// rootPackage stands in a rule's in for the files of the root package.
const rootPackage = "."

// sessions are the parts of the program where a child is a session rather than a process or a node of a tree.
var sessions = []string{
	rootPackage, "client/", "docs/", "README.md", "fleet/runner/", "internal/agent/", "internal/api/", "internal/app/", "internal/cli/", "cmd/",
	"internal/frontend/", "internal/mission/", "internal/service/", "internal/store/", "internal/telemetry/", "internal/transcript/",
}

// fleet are the parts of the program that call a computer a host.
var fleet = []string{"fleet", "docs/explanation/fleet", "docs/how-to/fleet", "docs/adr/0025", "internal/test/fleet/", "internal/cli/fleet"}

// permissions are the parts of the program that ask for permission or decide. Elsewhere "refuse" is the common word
// for rejecting invalid input.
var permissions = []string{
	"ask.go", "docs/reference/permissions.md", "internal/agent/authorize", "internal/agent/permit", "internal/security/permission/",
	"internal/security/policy/", "internal/frontend/tui/permission", "internal/frontend/tui/dialog/",
}

// rules are the "not" column of the glossary, the old names of the rename table, and the phrases of rule 4. Words that
// are common English in another sense are banned only where they can be recognized: as identifiers, in phrases, or in
// some parts of the program. The row of a table and math.Floor are not rules at all.
var rules = []rule{
	// The parts of a conversation.
	{name: "errand", say: "subtask, spawn", words: []string{"errand"}, prose: p("errand", `errands?\b`)},
	{name: "trip", say: "step request", words: []string{"trip"}, legit: regexp.MustCompile(`(?i)roundtrip`), prose: p("trip", `trips?\b`), unless: p("round", `round.trips?`)},
	{name: "travel", say: "run a step", words: []string{"travel"}, prose: p("travel", `travel(?:s|ed|ing)?\b`)},
	{name: "deed", say: "change, action", words: []string{"deed"}, prose: p("deed", `deeds?\b`)},
	{name: "model question", say: "model request", prose: p("question", `questions? to (?:the|a) model\b`)},
	{name: "child", say: "subagent, subtask", words: []string{"child", "children"}, prose: p("child", `child(?:ren)?\b`), unless: p("process", `child process`), in: sessions},
	{name: "meanwhile", say: "steer, queue", words: []string{"meanwhile"}, funcs: []string{"later"}},
	{name: "heed", say: "steer", words: []string{"heed", "heeded"}, prose: p("heed", `heed(?:s|ed|ing)?\b`)},
	{name: "spill", say: "truncate a result", words: []string{"spill", "spilled"}, prose: p("spill", `spill(?:s|ed|ing)?\b`)},

	// Permissions and projects.
	{name: "may", say: "allow, allowed", words: []string{"may"}},
	{name: "refuse", say: "deny", words: []string{"refuse", "refused", "refusal"}, prose: p("refus", `refus(?:e|es|ed|al|als|ing)\b`), in: permissions},
	{name: "decline", say: "deny", words: []string{"decline", "declined"}, prose: p("declin", `declin(?:e|es|ed|ing)\b`)},
	{name: "say no", say: "deny", prose: p(" no", `(?:say|says|said|saying|person's|user's) no\b`), unless: p(" no ", `(?:say|says|said|saying) no (?:more|less|such|word)`)},
	{name: "grant", say: "allow; a saved answer", words: []string{"grant", "granted"}, prose: p("grant", `grant(?:s|ed|ing)?\b`)},
	{name: "for good", say: "always allow", words: []string{"forgood"}, prose: p("good", `for good\b`), unless: p("good", `for good (?:measure|reason)`)},
	{name: "permit", say: "authorize, permission", words: []string{"permit"}},
	{name: "stance", say: "modeDecision", words: []string{"stance"}},
	{name: "desk", say: "project", words: []string{"desk"}, prose: p("desk", `desks?\b`)},
	{name: "folder", say: "project, working directory, directory", prose: p("folder", `folders?\b`)},
	{name: "brings", say: "project configuration", prose: p("brings|brought|bring", `(?:folder|directory|project|repository) (?:brings?|brought)\b`)},
	{name: "take effect", say: "trust", prose: p("effect", `may take effect\b`)},
	{name: "box", say: "sandbox", words: []string{"box"}, prose: p("box", `box(?:es)?\b`)},
	{name: "weak", say: "nothing: weakened programs come from a build overlay", words: []string{"weak"}},

	// Undo and compaction.
	{name: "take back", say: "undo, withdraw", names: []string{"takeBack", "takenBack", "goingBack", "putBack", "goForth"}, files: []string{"revert", "undone"},
		prose: p("back", `(?:take|takes|took|taken|taking) (?:it |them |that |one |all )?back\b|going back\b`)},
	{name: "forth", say: "redo", words: []string{"forth"}, prose: p("forth", `go(?:es|ing)? forth\b`)},
	{name: "sum up", say: "compact, summarize", names: []string{"sumUp", "summedUp"}, prose: p("sum", `sum(?:s|med|ming)? (?:it |them |all )?up\b`)},
	{name: "room", say: "capacity, budget, space, subscribers", words: []string{"room"}, prose: p("room", `rooms?\b`)},

	// Fleets.
	{name: "brain", say: "coordinator", words: []string{"brain"}, prose: p("brain", `brains?\b`)},
	{name: "hands", say: "executor", words: []string{"hands"}, prose: p("hands", `(?:the|its|their|your|our|a|of|has|have) hands\b|'s hands\b`)},
	{name: "machine", say: "host", words: []string{"machine"}, prose: p("machine", `machines?\b`), in: fleet},
	{name: "beat", say: "heartbeat", words: []string{"beat"}, prose: p("beat", `beats?\b`)},
	{name: "roster", say: "host registry", words: []string{"roster"}, prose: p("roster", `rosters?\b`)},

	// Missions.
	{name: "workplace", say: "worktree", words: []string{"workplace"}, prose: p("workplace", `workplaces?\b`)},
	{name: "harvest", say: "collect", words: []string{"harvest", "harvested"}, prose: p("harvest", `harvest(?:s|ed|ing)?\b`)},
	{name: "frozen", say: "criteria", words: []string{"frozen", "freeze", "froze"}, prose: p("froze|freez", `frozen\b|freez(?:es?|ing)\b|froze\b`)},
	{name: "judged", say: "gate result; decide, check", words: []string{"judge", "judged"}, prose: p("judg", `judg(?:e|es|ed|ing)\b`)},
	{name: "agreed", say: "approval", words: []string{"agreed"}, prose: p("agreed", `agreed\b`)},
	{name: "dossier", say: "report", words: []string{"dossier"}, prose: p("dossier", `dossiers?\b`)},
	{name: "against", say: "passed, not passed", prose: p("against", `(?:found|finds|find|finding|nothing|speaks?) (?:nothing )?(?:speaks )?against\b`)},
	{name: "bridge", say: "journal", words: []string{"bridge"}, prose: p("bridge", `bridges?\b`)},

	// Output.
	{name: "told", say: "active voice: reports, says, passes", words: []string{"teller", "tell", "told", "telling"},
		prose: p("teller|told|tells of", `tellers?\b|(?:is|are|was|were|be|been|being|gets?) (?:not |also |then |never |only )?told\b|told of\b|tells of\b`)},
	{name: "ink", say: "SGR, palette, comment", words: []string{"ink", "remark"}, prose: p("ink|remark", `inks?\b|remarks?\b`)},
	{name: "ground", say: "background, theme", names: []string{"ground", "grounds", "look", "looks"}, in: []string{"internal/frontend/"}},
	{name: "plain", say: "sanitize", exact: []string{"Plain"}},
	{name: "fence", say: "sanitize, untrusted text", words: []string{"fence", "fenced"}, prose: p("fenc", `fenc(?:e|es|ed|ing)\b`), unless: p("fenc", `code (?:block|fence)|fenced (?:code|block)`)},
	{name: "stranger", say: "untrusted text", words: []string{"stranger"}, prose: p("stranger", `strangers?\b`)},
	{name: "near", say: "suggest, closest", words: []string{"near", "nearby"}},

	// States.
	{name: "gone", say: "not found, deleted, closed, lost", words: []string{"gone"}, prose: p("gone", `gone\b`)},
	{name: "none", say: "not found; if it does not exist", prose: p("none", `there (?:is|are|was|were) none\b`)},
	{name: "not there", say: "does not exist, is missing", prose: p("not there", `(?:is|are|was|were) not there\b`)},

	// Phrases of rule 4.
	{name: "came of", say: "the result, the outcome", prose: p(" of", `what(?: \w+)?(?: \w+)? (?:came|comes|come|became|becomes|become) of\b`)},
	{name: "genitive", say: "the user's X, not X of the user's", prose: p("'s", `of (?:(?:the|a|an|its|their|our) )?\w+'s(?:\s+own)?(?:[.,;:)]|\s*$|\s+(?:and|or|is|are|that|which|in|on|with|to|for|from|by|as|at|alone)\b)`)},
	{name: "nobody's", say: "unowned; name the owner", prose: p("body's", `(?:nobody|somebody|anybody|everybody)'s\b`)},
	{name: "riddle", say: "a sentence with an antecedent", prose: p("what is not|alike|sight of", `what is not is\b|all is alike\b|in the sight of\b`)},

	// Other names that the rename table replaces.
	{name: "door", say: "server, authenticate", words: []string{"door"}, prose: p("door", `doors?\b`)},
	{name: "world", say: "env, harness", words: []string{"world", "scene", "arena"}, files: []string{"stage", "odd", "law", "truth"}},
	{name: "old name", say: "the name of the rename table",
		names: []string{"speak", "patient", "lasting", "inMemory", "asides", "tally", "circles", "park", "parked", "greet", "notMeant", "unknownOutcome", "fitting"}},
	{name: "root name", say: "NeedsSync, EffectiveEvents, UndoneRevert, ModelUsage, SliceLog", exact: []string{"Lasting", "Live", "Gone", "Spent", "InMemory"}, in: []string{rootPackage}},
	{name: "agent name", say: "modelRef, sanitizeResult, interruptedResult", funcs: []string{"asked", "shown", "again"}, files: []string{"again", "unknown", "question", "family", "nearby"}, in: []string{"internal/agent/"}},
	{name: "tui file", say: "onboarding, subagents, permissions, eventfeed, layout, completion", files: []string{"first", "children", "permits", "feed", "flow", "complete"}, in: []string{"internal/frontend/tui/"}},
	{name: "old package", say: "the package's name", prose: p("plain.|fence.|near.|weak.|words.|front.|define.|extend.|desk.|safety.|private.|linear.|mcpserve.|lookup.|slots.", `(?:plain|fence|near|weak|words|front|define|extend|desk|safety|private|linear|mcpserve|lookup|slots)\.[a-z]\w+\(?`)},
}

// phrases are banned in the texts that people see: string literals of product code.
var phrases = []rule{
	{name: "is no", say: "is not a", prose: p("is no ", `is no \w+`), unless: p("is no", `(?:is no (?:longer|more|such)|there is no)`)},
	{name: "of yours", say: "your", prose: p("of yours|of pawl's|of ours", `of (?:yours|ours|pawl's)\b`)},
	{name: "goes on", say: "continue, resume", prose: p("on", `(?:goes|go|going|went|gone) on\b`)},
	{name: "is to be", say: "must", prose: p("to be", `(?:is|are) to be\b`)},
	{name: "nobody", say: "no one; name who", prose: p("body", `(?:nobody|somebody|anybody)\b`)},
	{name: "brings", say: "project configuration", prose: p("bring|brought", `(?:brings?|brought)\b`)},
	{name: "counts for", say: "is ignored", prose: p("counts for", `counts for\b`)},
	{name: "takes effect", say: "is active", prose: p("effect", `(?:take|takes|taken|took) effect\b|in effect\b`)},
	{name: "picked up", say: "found", prose: p("picked up", `picked up\b`)},
	{name: "may", say: "can, is allowed", prose: p("may ", `may (?:be asked|run here|this)\b`)},
	{name: "looked into", say: "read", prose: p("looked ", `looked (?:into|at|for)\b`)},
	{name: "what is", say: "name the thing", prose: p("what ", `what (?:is|was|has|had|it|they) (?:not|there|left|wrong|been|kept|said|done)\b`)},
}
