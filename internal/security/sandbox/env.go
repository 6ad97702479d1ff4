package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// variables are the variables of pawl's environment that commands get. None of them
// contains a key.
var variables = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TERM", "COLORTERM", "NO_COLOR", "TZ"}

// environment returns the environment of a command: each name once, the profile's
// values last.
func environment(p Profile) []string {
	values := map[string]string{}
	take := func(name string) {
		if value, ok := os.LookupEnv(name); ok {
			values[name] = value
		}
	}
	for _, name := range variables {
		take(name)
	}
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "LC_") {
			take(name)
		}
	}
	if p.CacheHome != "" {
		values["XDG_CACHE_HOME"], values["npm_config_cache"] = p.CacheHome, filepath.Join(p.CacheHome, "npm")
	}
	for _, entry := range p.Env {
		if name, value, ok := strings.Cut(entry, "="); ok {
			values[name] = value
		} else {
			take(name)
		}
	}
	var env []string
	for name, value := range values {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}

// temporary sets TMPDIR, and the cache directory unless the profile sets it, because
// commands must not write the user's caches.
func temporary(env []string, dir string) []string {
	env = setenv(env, "TMPDIR", dir)
	if getenv(env, "XDG_CACHE_HOME") == "" {
		env = setenv(env, "XDG_CACHE_HOME", filepath.Join(dir, ".cache"))
	}
	return env
}

// setenv sets or replaces a variable in an environment.
func setenv(env []string, name, value string) []string {
	env = slices.DeleteFunc(env, func(entry string) bool { return strings.HasPrefix(entry, name+"=") })
	return append(env, name+"="+value)
}

// getenv returns the value of a variable in an environment, or "".
func getenv(env []string, name string) string {
	for _, entry := range env {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}
