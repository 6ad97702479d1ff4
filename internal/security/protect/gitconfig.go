package protect

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
	"strings"
)

// setting is a line of a git configuration. Sections and keys are in lower case.
type setting struct {
	section, sub, key, value string
}

// config is a parsed git configuration.
type config struct {
	settings  []setting
	continued bool // a value continues on the next line
}

var errConfig = errors.New("not a valid git configuration")

var (
	sectionHeader = regexp.MustCompile(`^\[([A-Za-z0-9-]+)(?:\.([A-Za-z0-9.-]+)|[ \t]+"((?:[^"\\\n\x00]|\\.)*)")?\]`)
	settingKey    = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]*`)
	escapedChar   = regexp.MustCompile(`\\(.)`)
)

// parseConfig parses a git configuration. With an error it returns the settings before it.
func parseConfig(text []byte) (config, error) {
	var c config
	if bytes.IndexByte(text, 0) >= 0 || bytes.IndexByte(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), '\r') >= 0 {
		return c, errConfig
	}
	rest := strings.ReplaceAll(string(text), "\r\n", "\n")
	section, sub := "", ""
	for {
		rest = strings.TrimLeft(rest, " \t\n")
		switch {
		case rest == "":
			return c, nil
		case rest[0] == '#' || rest[0] == ';':
			_, rest, _ = strings.Cut(rest, "\n")
		case rest[0] == '[':
			m := sectionHeader.FindStringSubmatch(rest)
			if m == nil {
				return c, errConfig
			}
			section, sub = strings.ToLower(m[1]), strings.ToLower(m[2])+escapedChar.ReplaceAllString(m[3], "$1")
			rest = rest[len(m[0]):]
		default:
			key := settingKey.FindString(rest)
			if key == "" || section == "" {
				return c, errConfig
			}
			value, after, err := c.parseValue(strings.TrimLeft(rest[len(key):], " \t"))
			if err != nil {
				return c, err
			}
			c.settings = append(c.settings, setting{section, sub, strings.ToLower(key), value})
			rest = after
		}
	}
}

// parseValue parses what follows a key, and returns the rest after the line. A key without a value is true.
func (c *config) parseValue(rest string) (value, after string, err error) {
	if rest == "" || rest[0] == '\n' {
		return "true", rest, nil
	}
	if rest[0] != '=' {
		return "", "", errConfig
	}
	rest = strings.TrimLeft(rest[1:], " \t")
	var b strings.Builder
	quoted, comment, end := false, false, 0 // end is the length without trailing blanks
	for i := 0; i < len(rest); i++ {
		switch ch := rest[i]; {
		case ch == '\n' && quoted:
			return "", "", errConfig
		case ch == '\n':
			return b.String()[:end], rest[i+1:], nil
		case comment:
		case !quoted && (ch == '#' || ch == ';'):
			comment = true
		case ch == '"':
			quoted = !quoted
			end = b.Len()
		case ch == '\\':
			if i++; i == len(rest) {
				return "", "", errConfig
			}
			if rest[i] == '\n' {
				c.continued = true
				continue
			}
			at := strings.IndexByte(`"\ntb`, rest[i])
			if at < 0 {
				return "", "", errConfig
			}
			b.WriteByte("\"\\\n\t\b"[at])
			end = b.Len()
		default:
			if b.WriteByte(ch); quoted || ch != ' ' && ch != '\t' {
				end = b.Len()
			}
		}
	}
	if quoted {
		return "", "", errConfig
	}
	return b.String()[:end], "", nil
}

// get returns the last value of a setting without a subsection, or "".
func (c config) get(section, key string) (value string) {
	for _, s := range c.settings {
		if s.section == section && s.sub == "" && s.key == key {
			value = s.value
		}
	}
	return value
}

// branchKeys are settings of a branch that git writes itself: in a checkout of a remote branch, in push -u and in
// branch --set-upstream-to, --edit-description and -m.
var branchKeys = []string{"remote", "merge", "rebase", "description", "pushremote"}

func ofBranch(s setting) bool {
	return s.section == "branch" && s.sub != "" && slices.Contains(branchKeys, s.key)
}

// checkConfigChange returns why a repository's configuration must not change in this way, or "".
func checkConfigChange(before, after []byte) string {
	old, errOld := parseConfig(before)
	now, errNow := parseConfig(after)
	if errOld != nil || errNow != nil || now.continued && !old.continued {
		return "the git configuration changed, and has syntax that git does not write"
	}
	others := func(c config) []setting { return slices.DeleteFunc(slices.Clone(c.settings), ofBranch) }
	if !slices.Equal(others(old), others(now)) {
		return "the git configuration changed: it can run programs"
	}
	for _, s := range now.settings {
		if ofBranch(s) && !slices.Contains(old.settings, s) && !safeBranchSetting(now, s) {
			return "the git configuration of branch " + s.sub + " changed in a way that git does not write"
		}
	}
	return ""
}

// safeBranchSetting reports whether a setting of a branch only names a remote that exists, or a ref. Git also accepts a
// URL for the remote, which can run programs.
func safeBranchSetting(c config, s setting) bool {
	switch s.key {
	case "remote", "pushremote":
		return s.value == "." || slices.ContainsFunc(c.settings, func(r setting) bool { return r.section == "remote" && r.sub == s.value && r.key == "url" })
	case "merge":
		return validRef(s.value)
	case "rebase":
		return slices.Contains([]string{"true", "false", "merges", "interactive"}, s.value)
	case "description":
		return true
	}
	return false
}

var (
	boolean   = regexp.MustCompile(`^(true|false)$`)
	fetchSpec = regexp.MustCompile(`^\+?refs/[A-Za-z0-9._/*-]+:refs/[A-Za-z0-9._/*-]+$`)
)

// newRepoSettings are the settings that git init and git clone write, with the values that are harmless.
var newRepoSettings = map[string]func(string) bool{
	"core.repositoryformatversion": regexp.MustCompile(`^[01]$`).MatchString,
	"core.filemode":                boolean.MatchString,
	"core.bare":                    func(v string) bool { return v == "false" },
	"core.logallrefupdates":        boolean.MatchString,
	"core.symlinks":                boolean.MatchString,
	"core.ignorecase":              boolean.MatchString,
	"core.precomposeunicode":       boolean.MatchString,
	"extensions.objectformat":      regexp.MustCompile(`^sha(1|256)$`).MatchString,
}

// checkNewConfig returns why a new repository must not have this configuration, or "".
func checkNewConfig(text []byte) string {
	c, err := parseConfig(text)
	if err != nil || c.continued {
		return "the configuration of the new repository has syntax that git does not write"
	}
	for _, s := range c.settings {
		safe := false
		switch {
		case s.sub == "":
			check := newRepoSettings[s.section+"."+s.key]
			safe = check != nil && check(s.value)
		case s.section == "remote" && s.key == "url":
			safe = safeURL(s.value)
		case s.section == "remote" && s.key == "fetch":
			safe = fetchSpec.MatchString(s.value)
		case ofBranch(s):
			safe = safeBranchSetting(c, s)
		}
		if !safe {
			return "the configuration of the new repository sets " + s.section + "." + s.key + ", which can run programs"
		}
	}
	return ""
}

var urlScheme = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*)://`)

// safeURL reports whether the URL of a remote runs no program but ssh and git's own: a path, an ssh address, or a URL of
// a known protocol.
func safeURL(u string) bool {
	if u == "" || strings.HasPrefix(u, "-") || strings.ContainsFunc(u, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return false
	}
	if strings.Contains(u, "::") || strings.Contains(u, "://-") || strings.Contains(u, "@-") {
		return false // another helper, or a host that ssh takes for an option
	}
	m := urlScheme.FindStringSubmatch(u)
	return m == nil || slices.Contains([]string{"http", "https", "ssh", "git", "file"}, strings.ToLower(m[1]))
}
