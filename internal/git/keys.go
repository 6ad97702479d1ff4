package git

import (
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl"
)

// maxKeys bounds the keys of a repository's configuration.
const maxKeys = 4096

// setting is a key of the configuration and its value.
type setting struct{ key, value string }

// neutral is what every git of ours gets: no program of the repository, no
// network, no prompt. A word "false" is the program of that name.
//
// uploadpack.packObjectsHook is not here: git minds it only where the user or
// the command line sets it.
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

// apart is the configuration of a git that works apart from the worktree. What it makes
// of some commits must not depend on the settings of whoever has them.
var apart = []setting{
	{"core.splitIndex", "false"}, // a part of the index would be in the repository
	{"core.sparseCheckout", "false"},
	{"index.sparse", "false"},
	{"merge.renames", "true"}, // not every git accepts false
	{"merge.directoryRenames", "false"},
	{"merge.renormalize", "false"},
	{"merge.conflictStyle", "merge"},
}

// muted returns what takes the sting out of a key of the repository
// configuration, whose middle part can be any name: nothing if it has none.
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
		return []setting{{key, ""}} // takes away those before it
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

// online reports whether a key says how or where the network is reached: by
// another address, another program, a proxy, without a check of certificates.
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

// foreign returns those keys of a list, each with its scope before it, that are
// not our own.
func foreign(list string) string {
	var keys strings.Builder
	words := strings.Split(list, "\x00")
	for i := 0; i+1 < len(words); i += 2 {
		if words[i] != "command" { // the settings that we give
			keys.WriteString(words[i+1] + "\x00")
		}
	}
	return keys.String()
}

// mute reads the names of a configuration's keys, as git lists them, and
// returns what takes their sting out.
func mute(list string, network bool) ([]setting, error) {
	var settings []setting
	keys := strings.FieldsFunc(list, func(r rune) bool { return r == 0 })
	if len(keys) > maxKeys {
		return nil, fmt.Errorf("the repository's configuration has more than %d keys: %w", maxKeys, pawl.ErrDenied)
	}
	for _, key := range keys {
		if network && online(key) {
			return nil, fmt.Errorf("the repository's configuration has the key %q, which bends how the network is reached: take it out: %w", key, pawl.ErrDenied)
		}
		settings = append(settings, muted(key)...)
	}
	return settings, nil
}
