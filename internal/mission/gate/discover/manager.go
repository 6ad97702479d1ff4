package discover

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
)

// manager is a package manager of JavaScript.
type manager string

var locks = map[string]manager{
	"package-lock.json": "npm", "npm-shrinkwrap.json": "npm", "pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lock": "bun", "bun.lockb": "bun",
}

// lockFile returns the lock file of a package, or "".
func lockFile(d directory) string {
	return d.first("pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb", "package-lock.json", "npm-shrinkwrap.json")
}

func (p packages) locked() bool { return lockFile(p.directory) != "" }

func managerOf(d directory) manager {
	if m, ok := locks[lockFile(d)]; ok {
		return m
	}
	return "npm"
}

// run returns the command that runs a script.
func (m manager) run(script string) []string {
	if m == "npm" || m == "pnpm" {
		return []string{string(m), "run", "--silent", script}
	}
	return []string{string(m), "run", script}
}

// bin returns the command that runs a program of a dependency: with node if the file of the program is known and in the
// package's own node_modules.
func (p packages) bin(name, file string) []string {
	switch {
	case p.manager == "npm" && p.root && file != "":
		return []string{"node", "node_modules/" + file}
	case p.manager == "npm":
		return []string{"npx", "--no-install", name}
	case p.manager == "pnpm":
		return []string{"pnpm", "exec", name}
	default:
		return []string{string(p.manager), "run", name}
	}
}

// setup installs the locked dependencies of a package, without their scripts, from the registry only.
func (p packages) setup() []Found {
	lock := lockFile(p.directory)
	if lock == "" || len(p.Dependencies)+len(p.DevDependencies) == 0 && p.Workspaces == nil && !p.has("pnpm-workspace.yaml") {
		return nil
	}
	args := []string{string(p.manager), "install", "--frozen-lockfile", "--ignore-scripts"}
	id, hosts := string(p.manager)+"-install", []string{"registry.npmjs.org"}
	switch p.manager {
	case "npm":
		id, args = "npm-ci", []string{"npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"}
	case "yarn":
		hosts = append(hosts, "registry.yarnpkg.com")
		if p.has(".yarnrc.yml") || strings.Contains(p.text(lock), "\n__metadata:") { // yarn 2 and later
			args = []string{"yarn", "install", "--immutable", "--mode=skip-build"}
		}
	}
	f := p.check(id, pawl.CheckSetup, lock, "locks dependencies", args...)
	f.Network = hosts
	if slices.Contains(p.Paths, path.Join(p.path, ".npmrc")) {
		f.Why += "; only the public registry can be reached"
	}
	return []Found{f}
}
