package gate

import (
	"encoding/json"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// protected are files that say how a project is checked, or that stand between
// the checks and what they check. A name without a slash is one in any directory; one
// that ends with a slash is a directory.
var protected = []string{
	// who checks
	".github/workflows/", ".github/actions/", ".gitlab-ci.yml", ".gitlab/", ".circleci/", ".buildkite/", ".ci/", ".travis.yml", "azure-pipelines.yml",
	"Jenkinsfile", ".drone.yml", "bitbucket-pipelines.yml", ".pawl/", ".pre-commit-config.yaml", "lefthook.yml", ".husky/", "CODEOWNERS",
	// linters and types
	".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json", "staticcheck.conf", ".eslintrc*", "eslint.config.*", ".eslintignore", "biome.json*",
	".prettierrc*", ".prettierignore", "tsconfig*.json", ".flake8", ".pylintrc", "ruff.toml", ".ruff.toml", "mypy.ini", ".mypy.ini", "pyrightconfig.json",
	"clippy.toml", ".clippy.toml", "rustfmt.toml", ".rustfmt.toml", ".editorconfig", "deny.toml",
	// runners of tests
	"conftest.py", "pytest.ini", ".pytest.ini", "tox.ini", "noxfile.py", "setup.cfg", "sitecustomize.py", "usercustomize.py", "*.pth",
	"jest.config.*", "vitest.config.*", "vitest.workspace.*", "vite.config.*", "babel.config.*", ".babelrc*", ".mocharc*", "karma.conf.*", "playwright.config.*",
	".cargo/", "nextest.toml", "build.rs", "go.work", ".npmrc", ".yarnrc*", ".envrc", ".nycrc*", ".c8rc*", ".coveragerc", "codecov.yml", ".codecov.yml",
	// what runners are made of
	"vendor/", "node_modules/", "pytest.py", "_pytest/", "pytest/", "unittest.py", "unittest/", "jest.js", "vitest.js", "testing.go",
	".gitattributes", ".gitmodules",
}

// Protects reports whether a change of a file speaks against a candidate by its
// path alone: it says how the project is checked, and nobody has agreed to its
// change. The path is from the top of the tree; one that leads out of it is
// protected. Files of which only parts are protected are not among them.
func Protects(f Frozen, name string) bool {
	name = path.Clean(name)
	if !filepath.IsLocal(name) {
		return true
	}
	return !fileAgreed(f.Agreed, name) && slices.ContainsFunc(slices.Concat(protected, f.Protected), func(pattern string) bool { return protects(pattern, name) })
}

func protects(pattern, name string) bool {
	switch {
	case strings.HasSuffix(pattern, "/"):
		return strings.Contains("/"+name+"/", "/"+pattern) // a link of that name leads to such a directory
	case strings.Contains(pattern, "/"):
		return match(pattern, name)
	default:
		return match(pattern, path.Base(name))
	}
}

// sections are the parts of files that are protected while the rest is not: a
// project may have new dependencies without a word, but no other test command.
var sections = map[string]func(text []byte) (any, error){
	"package.json":   packageParts,
	"pyproject.toml": projectParts,
	"Cargo.toml":     cargoParts,
	"go.mod":         goModParts,
}

// partsDiffer reports whether the protected parts of a file differ. What cannot be
// read differs.
func partsDiffer(name string, before, after []byte) bool {
	read, ok := sections[path.Base(name)]
	if !ok {
		return false
	}
	a, errA := read(before)
	b, errB := read(after)
	return errA != nil || errB != nil || !reflect.DeepEqual(a, b)
}

func packageParts(text []byte) (any, error) {
	if len(text) == 0 {
		return nil, nil //nolint:nilnil // there is none
	}
	var p map[string]any
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, err
	}
	return pick(p, "scripts", "jest", "vitest", "eslintConfig", "eslintIgnore", "nyc", "c8", "mocha", "babel", "workspaces", "overrides", "resolutions", "type"), nil
}

func projectParts(text []byte) (any, error) {
	var p map[string]any
	if err := toml.Unmarshal(text, &p); err != nil {
		return nil, err
	}
	return pick(p, "tool", "build-system"), nil
}

func cargoParts(text []byte) (any, error) {
	var p map[string]any
	if err := toml.Unmarshal(text, &p); err != nil {
		return nil, err
	}
	return pick(p, "lints", "profile", "patch", "replace", "test", "lib", "bin", "workspace"), nil
}

var goModReplace = regexp.MustCompile(`(?m)^\s*(?:replace\b.*|toolchain\b.*|\S+(?:\s+v\S+)?\s+=>.*)$`)

// goModParts are the lines that put other code in the place of a module's.
func goModParts(text []byte) (any, error) {
	lines := goModReplace.FindAllString(string(text), -1)
	for i := range lines {
		lines[i] = strings.Join(strings.Fields(lines[i]), " ")
	}
	slices.Sort(lines)
	return lines, nil
}

// pick returns some entries of a map.
func pick(m map[string]any, keys ...string) map[string]any {
	some := map[string]any{}
	for _, k := range keys {
		if v, ok := m[k]; ok {
			some[k] = v
		}
	}
	return some
}
