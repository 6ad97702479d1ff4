package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/extension/skill"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/strictjson"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// MetaInstalled is the key in a result's Meta that lists the installed skills.
const MetaInstalled = "installed"

// SkillInstaller returns the installer of the user's skills, for a call. It works
// outside the sandbox and runs nothing of a source.
type SkillInstaller func(call toolapi.Call) *skill.Installer

// skillOrigin is where a call installs skills from.
type skillOrigin struct {
	source string // for an installer
	target string // for permissions: host/owner/repository, with @ref and #directory
}

// parseSkillSource parses a source of the model. Only the form that names the owner
// unambiguously is accepted: the permission depends on the owner.
func parseSkillSource(text string) (o skillOrigin, err error) {
	from, err := skill.ParseSource(strings.TrimSpace(text), false)
	if err != nil {
		return o, err
	}
	u, err := git.CheckURL(from.Address)
	if err != nil {
		return o, err
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	parts := strings.Split(u.Path, "/")
	github := u.Host == "github.com" && u.Port == 0
	if u.Scheme != "https" || len(parts) < 3 || github && len(parts) != 3 {
		return o, fault.New(pawl.ErrInvalid, "invalid skill source %.100q: use owner/repo or https://host/owner/repo, optionally followed by @ref and #directory", text)
	}
	if github {
		u.Path = strings.TrimSuffix(u.Path, ".git")
	}
	from.Address = u.String()
	o.source, o.target = from.String(), strings.TrimPrefix(from.Address, "https://")
	if from.Ref != "" {
		o.target += "@" + from.Ref
	}
	if from.Path != "" {
		o.target += "#" + from.Path
	}
	return o, nil
}

// names returns the names of the skills to install; none means all.
func (in skillInput) names() []string {
	return strings.FieldsFunc(in.Name, func(r rune) bool { return r == ',' || r == ' ' })
}

// install fetches a source, asks the user if it must, and installs the skills. What was
// fetched for the question is what is installed.
func (in skillInput) install(ctx context.Context, call toolapi.Call, set *skill.Set, installer SkillInstaller) (pawl.Result, error) {
	if installer == nil {
		return toolapi.ErrorResult("Skills cannot be installed here."), nil
	}
	from, err := parseSkillSource(in.Source)
	if err != nil {
		return pawl.Result{}, err
	}
	to := installer(call)
	plan, err := to.Add(ctx, from.source, in.names()...)
	if err != nil {
		return pawl.Result{}, err
	}
	defer plan.Close() //nolint:errcheck // what was fetched is of no more use, wherever it is
	keepOthers(plan, set, to.Dir)
	if err := confirmSkills(ctx, call, plan); err != nil {
		return toolapi.ErrorResult(fmt.Sprintf("Not installed: %v", err)), nil
	}
	if err := plan.Apply(); err != nil {
		return pawl.Result{}, err
	}
	return installedSkills(call, plan, to.Dir), nil
}

// keepOthers refuses skills that would hide, or be hidden by, a skill of the project or
// of the user in another directory.
func keepOthers(plan *skill.Plan, set *skill.Set, dir string) {
	for i := range plan.Changes {
		c := &plan.Changes[i]
		if other, ok := set.Find(c.Name); ok && c.Action != skill.Refuse && other.Folder != filepath.Join(dir, c.Name) {
			c.Action, c.Why = skill.Refuse, "a skill of this name exists: "+other.Folder
		}
	}
}

// changesSkill reports whether a change installs or replaces a skill.
func changesSkill(c skill.Change) bool { return c.Action == skill.Install || c.Action == skill.Replace }

// confirmSkills asks the user about a plan, unless it may be applied without: it only
// adds skills of a trusted owner.
func confirmSkills(ctx context.Context, call toolapi.Call, plan *skill.Plan) error {
	replaced := slices.IndexFunc(plan.Changes, func(c skill.Change) bool { return c.Action == skill.Replace })
	ask := call.Review
	if ask == nil && replaced >= 0 {
		if ask = call.Confirm; ask == nil {
			c := plan.Changes[replaced]
			return fmt.Errorf("%s is installed from commit %.12s, and %s has another version. The user is not asked in this mode and can run `pawl skills update %s`", c.Name, c.Was, c.Source, c.Name)
		}
	}
	if ask == nil || !slices.ContainsFunc(plan.Changes, changesSkill) {
		return nil
	}
	return ask(ctx, toolapi.Changes{
		Summary: "Commit " + plan.Changes[0].Commit, // all are of one commit
		Files:   strings.Split(strings.TrimSuffix(plan.Show(), "\n"), "\n"),
	})
}

// installedSkills returns the result of a plan that was applied, and shows it to the user.
func installedSkills(call toolapi.Call, plan *skill.Plan, dir string) pawl.Result {
	var b strings.Builder
	var names []string
	var meta map[string]string
	for _, c := range plan.Changes {
		name := sanitize.Line(c.Name)
		switch c.Action {
		case skill.Install, skill.Replace:
			text := fmt.Sprintf("Installed skill %s from %s, commit %s: %s", name, sanitize.Line(c.Source), c.Commit, humanize.Plural(len(c.Added)+len(c.Changed), "file"))
			if call.Notice != nil {
				call.Notice(text)
			}
			names = append(names, name)
			meta = map[string]string{MetaInstalled: strings.Join(names, ", "), "source": c.Source, "commit": c.Commit, "dir": dir}
			fmt.Fprintf(&b, "%s.\n  %s\n", text, short(c.Description, skillDescribed))
		case skill.Keep, skill.Dropped:
			fmt.Fprintf(&b, "Skill %s is already installed, from commit %s.\n", name, c.Commit)
		default:
			fmt.Fprintf(&b, "Skill %s was not installed: %s.\n", name, sanitize.Line(c.Why))
		}
	}
	usable := func(c skill.Change) bool { return c.Action != skill.Refuse }
	if !slices.ContainsFunc(plan.Changes, usable) {
		return toolapi.ErrorResult(b.String())
	}
	b.WriteString("Load a skill by its name, without source. It comes from a third party and allows nothing: name its source to the user.\n")
	return pawl.Result{Content: b.String(), Meta: meta}
}

// access returns what a call of the skill tool accesses. Enabling a skill allows
// reading it.
func (in skillInput) access() ([]pawl.Access, error) {
	if len(in.Name) > maxSkillNameText {
		return nil, errors.New("the name is too long")
	}
	if in.Source == "" {
		if strings.TrimSpace(in.Name) == "" {
			return nil, errors.New("name a skill")
		}
		return nil, nil
	}
	if in.File != "" {
		return nil, errors.New("install the skill first, then read its file without source")
	}
	from, err := parseSkillSource(in.Source)
	if err != nil {
		return nil, err
	}
	return []pawl.Access{{Kind: pawl.AccessSkill, Target: from.target}}, nil
}

// SkillCommands returns the bash tool with an addition: a command that is nothing but
// `npx skills add owner/repo` stands for a call of the skill tool, which fetches the same
// repository without running a program of a third party.
func SkillCommands(bash, skill toolapi.Tool) toolapi.Tool {
	bash.Means = func(_ context.Context, input json.RawMessage) (toolapi.Tool, json.RawMessage, error) {
		var in bashInput
		if strictjson.Decode(input, &in) != nil || in.Background {
			return bash, input, nil
		}
		install, ok := skillCommand(in.Command)
		if !ok {
			return bash, input, nil
		}
		text, err := json.Marshal(install)
		return skill, text, err
	}
	return bash
}

var (
	// plainWord matches a word that no shell expands, apart from a comment.
	plainWord = regexp.MustCompile(`^[A-Za-z0-9@/._:-][A-Za-z0-9@/._:#-]*$`)
	// skillsPackage matches the name of the npm package.
	skillsPackage = regexp.MustCompile(`^skills(@[A-Za-z0-9._-]+)?$`)
)

// skillCommand returns the call that `npx [-y] skills[@version] add source [flags]` stands
// for. Any other command, and any flag that is not known, is not such a command.
func skillCommand(command string) (in skillInput, ok bool) {
	words, ok := plainWords(command)
	for ok && len(words) > 1 && (words[1] == "-y" || words[1] == "--yes") {
		words = append(words[:1:1], words[2:]...)
	}
	if !ok || len(words) < 4 || words[0] != "npx" || !skillsPackage.MatchString(words[1]) || words[2] != "add" {
		return in, false
	}
	flags, operands := skillFlags(words[3:])
	for flag := range flags {
		if !slices.Contains(skillFlagNames, flag) {
			return in, false
		}
	}
	if len(operands) != 1 {
		return in, false
	}
	names := slices.DeleteFunc(slices.Concat(flags["-s"], flags["--skill"]), func(name string) bool { return name == "" })
	// For this program the part after @ is the name of a skill.
	source, name, named := strings.Cut(operands[0], "@")
	if named {
		names = append(names, name)
	}
	if _, err := parseSkillSource(source); err != nil {
		return in, false
	}
	return skillInput{Name: strings.Join(names, ","), Source: source}, true
}

// plainWords splits a command into words, which may be quoted as a whole. ok is false if a
// shell could do anything else with it.
func plainWords(command string) (words []string, ok bool) {
	words = strings.FieldsFunc(strings.TrimSpace(command), func(r rune) bool { return r == ' ' || r == '\t' })
	for i, w := range words {
		if n := len(w); n > 2 && (w[0] == '\'' || w[0] == '"') && w[n-1] == w[0] {
			words[i] = w[1 : n-1]
		}
		if !plainWord.MatchString(words[i]) {
			return nil, false
		}
	}
	return words, true
}

// skillFlagNames are the flags that installing for the user agrees with.
var skillFlagNames = []string{"-y", "--yes", "-g", "--global", "-s", "--skill", "-a", "--agent"}

// skillFlags returns the flags with their values, and the operands. The flags for skills
// and agents take all words up to the next flag.
func skillFlags(args []string) (flags map[string][]string, operands []string) {
	flags = map[string][]string{}
	last := ""
	for _, arg := range args {
		switch {
		case strings.HasPrefix(arg, "-"):
			last = arg
			flags[arg] = append(flags[arg], "")
		case last == "-s" || last == "--skill" || last == "-a" || last == "--agent":
			flags[last] = append(flags[last], arg)
		default:
			operands = append(operands, arg)
		}
	}
	return flags, operands
}
