package git

import (
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// maxKeys bounds the keys of a repository's configuration.
const maxKeys = 4096

// setting is a key of the git configuration and its value.
type setting struct{ key, value string }

// neutral is the configuration for every git command: no program of the repository,
// no network, no prompt. The value "false" is the program of that name.
//
// uploadpack.packObjectsHook is not listed: git reads it only from the user's
// configuration and the command line.
var neutral = []setting{
	{"core.fsmonitor", "false"},
	{"core.hooksPath", "/dev/null"},
	{"core.pager", "cat"},
	{"core.editor", "false"},
	{"sequence.editor", "false"},
	{"core.askPass", "false"},
	{"core.gitProxy", ""},
	{"core.attributesFile", "/dev/null"},
	{"core.excludesFile", "/dev/null"},
	{"core.alternateRefsCommand", "false"},
	{"core.untrackedCache", "false"},
	{"core.quotePath", "true"},
	{"core.protectHFS", "true"},
	{"core.protectNTFS", "true"},
	{"credential.helper", ""},
	{"credential.interactive", "false"},
	{"diff.external", "false"},
	{"diff.submodule", "short"},
	{"diff.ignoreSubmodules", "all"},
	{"interactive.diffFilter", "cat"},
	{"status.submoduleSummary", "false"},
	{"submodule.recurse", "false"},
	{"fetch.recurseSubmodules", "false"},
	{"push.recurseSubmodules", "no"},
	{"protocol.allow", "never"},
	{"gpg.program", "false"},
	{"gpg.openpgp.program", "false"},
	{"gpg.x509.program", "false"},
	{"gpg.ssh.program", "false"},
	{"gpg.ssh.defaultKeyCommand", "false"},
	{"log.showSignature", "false"},
	{"merge.verifySignatures", "false"},
	{"commit.gpgSign", "false"},
	{"tag.gpgSign", "false"},
	{"gc.auto", "0"},
	{"gc.autoDetach", "false"},
	{"maintenance.auto", "false"},
	{"safe.bareRepository", "explicit"},
	{"init.templateDir", ""},
	{"color.ui", "false"},
	{"column.ui", "never"},
}

// apart is the configuration for commands with Call.Apart. Their result must depend
// only on the commits, not on the user's settings.
var apart = []setting{
	{"core.splitIndex", "false"}, // part of the index would be in the repository
	{"core.sparseCheckout", "false"},
	{"index.sparse", "false"},
	{"merge.renames", "true"}, // not every git accepts false
	{"merge.directoryRenames", "false"},
	{"merge.renormalize", "false"},
	{"merge.conflictStyle", "merge"},
}

// muted returns the settings that disable a key of the repository's configuration
// if it can run a program or do other harm, else nil. The middle part of a key can
// be any name.
func muted(key string) []setting {
	section, rest, _ := strings.Cut(key, ".")
	middle, name := "", rest
	if i := strings.LastIndexByte(rest, '.'); i >= 0 {
		middle, name = rest[:i], rest[i+1:]
	}
	switch section + "." + name {
	case "filter.clean", "filter.smudge", "filter.process", "filter.required":
		part := "filter." + middle + "."
		return []setting{{part + "clean", ""}, {part + "smudge", ""}, {part + "process", ""}, {part + "required", "false"}}
	case "diff.textconv":
		return []setting{{key, "cat"}, {"diff." + middle + ".cachetextconv", "false"}}
	case "credential.helper":
		return []setting{{key, ""}} // an empty value clears the list
	case "remote.promisor":
		return []setting{{key, "false"}}
	case "submodule.update":
		return []setting{{key, "none"}}
	case "hook.command", "hook.event", "hook.enabled":
		return []setting{{"hook." + middle + ".enabled", "false"}}
	}
	switch {
	case section == "pager":
		return []setting{{key, "false"}}
	case section == "alias":
		return []setting{{key, "!false"}}
	case section == "protocol" && name == "allow":
		return []setting{{key, "never"}}
	}
	switch name { // diff.*.command, merge.*.driver, gpg.*.program, tar.*.command, trailer.*.cmd, remote.*.uploadpack, …
	case "command", "cmd", "driver", "program", "helper", "uploadpack", "receivepack", "defaultkeycommand", "askpass", "editor":
		return []setting{{key, "false"}}
	}
	return nil
}

// online reports whether a key affects how git reaches the network: another
// address, program or proxy, or no certificate checks.
func online(key string) bool {
	section, rest, _ := strings.Cut(key, ".")
	switch section {
	case "url", "http", "https", "protocol", "ssh", "transfer":
		return true
	case "core":
		return rest == "gitproxy" || rest == "sshcommand"
	case "remote":
		name := rest[strings.LastIndexByte(rest, '.')+1:]
		return name != "url" && name != "fetch"
	}
	return false
}

// foreign returns the keys of list that pawl did not set itself. The list
// alternates scopes and keys, separated by zero bytes.
func foreign(list string) string {
	var keys strings.Builder
	words := strings.Split(list, "\x00")
	for i := 0; i+1 < len(words); i += 2 {
		if words[i] != "command" { // pawl sets these in the environment
			keys.WriteString(words[i+1] + "\x00")
		}
	}
	return keys.String()
}

// mute returns the settings that disable dangerous keys of the configuration. list
// has the key names, separated by zero bytes. If network is true, keys that affect
// the network are an error.
func mute(list string, network bool) ([]setting, error) {
	var settings []setting
	keys := strings.FieldsFunc(list, func(r rune) bool { return r == 0 })
	if len(keys) > maxKeys {
		return nil, fault.New(pawl.ErrDenied, "the repository's configuration has more than %d keys", maxKeys)
	}
	for _, key := range keys {
		if network && online(key) {
			return nil, fault.New(pawl.ErrDenied, "the repository's configuration sets %q, which changes how git connects to the network: remove it", key)
		}
		settings = append(settings, muted(key)...)
	}
	return settings, nil
}
