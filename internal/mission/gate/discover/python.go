package discover

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/pawl-dev/pawl"
)

const maxRead = 40 // test files of a project that are read to learn how they are run

var (
	pythonFile     = regexp.MustCompile(`\.py$`)
	pythonTest     = regexp.MustCompile(`(^|/)(test[^/]*|[^/]+_test)\.py$`)
	pythonProjects = []string{"pyproject.toml", "setup.py", "setup.cfg", "pytest.ini", "tox.ini", "noxfile.py", "manage.py", "requirements.txt", "requirements-dev.txt", "Pipfile", "uv.lock", "poetry.lock"}
	requirements   = regexp.MustCompile(`(^|/)[^/]*requirements[^/]*\.(txt|in)$|^requirements/[^/]+\.(txt|in)$|^environment\.ya?ml$`)

	testFunction = regexp.MustCompile(`(?m)^(async )?def test|^import pytest|^from pytest\b|^class Test\w*(\(\))?:`)
	testCase     = regexp.MustCompile(`(?m)^class \w+\(.*TestCase\)|\bunittest\b`)
)

// python finds projects with tests. Each test file belongs to the innermost project file above it; a project with tests
// runs those below it too.
func python(t *tree) (list []Found) {
	top := directory{t, ""}
	owners := map[string]bool{}
	for _, name := range top.files(pythonTest) {
		dir := parent(name)
		for dir != "" && !(directory{t, dir}).has(pythonProjects...) {
			dir = parent(dir)
		}
		owners[dir] = true
	}
	var dirs []directory
	for dir := range owners {
		if dir == "" && !top.has(pythonProjects...) {
			dir = commonDir(top.files(pythonFile)) // no project file above it
		}
		dirs = append(dirs, directory{t, dir})
	}
	slices.SortFunc(dirs, func(a, b directory) int { return strings.Compare(a.path, b.path) })
	for _, d := range outermost(dirs) {
		list = append(list, pythonChecks(d)...)
	}
	return list
}

// commonDir returns the first directory of paths if all are below it, else the top.
func commonDir(paths []string) string {
	first, _, ok := strings.Cut(paths[0], "/")
	if !ok || testDir.MatchString(first) || slices.ContainsFunc(paths, func(p string) bool { return !below(p, first) }) {
		return ""
	}
	return first
}

var testDir = regexp.MustCompile(`^tests?$`)

func pythonChecks(d directory) []Found {
	list, run := pythonSetup(d)
	file := d.first(pythonProjects...)
	tests := d.files(pythonTest)
	if file == "" {
		file = tests[0]
	}
	compile := d.check("python-compile", pawl.CheckBuild, file, "belongs to a Python project", "python3", "-m", "compileall", "-q", ".")
	if len(list) > 0 {
		compile.Args = append(compile.Args, "-x", "/[.]venv/") // what the setup installs
	}
	list = append(list, compile)
	var test Found
	switch named := namesPytest(d); {
	case named != "":
		test = pytest(d, run, named, "names pytest")
	case strings.Contains(d.text("manage.py"), "django"):
		test = d.check("django-test", pawl.CheckTest, "manage.py", "runs the tests of a Django project", join(run, "manage.py", "test", "--verbosity=2", "--noinput")...).reports("unittest", "")
	default:
		test = pytestOrUnittest(d, run, tests)
	}
	test = test.env("PYTHONDONTWRITEBYTECODE=1", "PYTHONHASHSEED=0")
	if len(d.files(regexp.MustCompile(`^src/([^/]+/__init__|[^/]+)\.py$`))) > 0 {
		test = test.env("PYTHONPATH=src") // the package need not be installed
	}
	if run[0] == "poetry" {
		test = test.env(poetryEnv)
	}
	return append(list, test)
}

const poetryEnv = "POETRY_VIRTUALENVS_IN_PROJECT=true"

// namesPytest returns the file that names pytest: its configuration, or a requirement.
func namesPytest(d directory) string {
	if name := d.first("pytest.ini", ".pytest.ini", "conftest.py"); name != "" {
		return name
	}
	names := append([]string{"pyproject.toml", "setup.cfg", "tox.ini", "setup.py", "noxfile.py", "Pipfile"}, d.files(requirements)...)
	names = append(names, d.files(regexp.MustCompile(`(^|/)conftest\.py$`))...)
	for _, name := range names {
		if path.Base(name) == "conftest.py" || strings.Contains(d.text(name), "pytest") {
			return name
		}
	}
	return ""
}

func pytest(d directory, run []string, file, why string) Found {
	args := join(run, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--continue-on-collection-errors", "-o", "junit_family=xunit1", "--junitxml="+reportXML)
	return d.check("pytest", pawl.CheckTest, file, why, args...).reports("junit", reportXML)
}

// pytestOrUnittest runs unittest if all tests are methods of its classes, and otherwise pytest.
func pytestOrUnittest(d directory, run, tests []string) Found {
	first := ""
	for _, name := range tests[:min(len(tests), maxRead)] {
		text := d.text(name)
		switch {
		case testFunction.MatchString(text):
			return pytest(d, run, name, "has tests that pytest runs")
		case first == "" && testCase.MatchString(text):
			first = name
		}
	}
	if first == "" {
		return pytest(d, run, tests[0], "looks like a test of pytest")
	}
	args := join(run, "-m", "unittest", "discover", "-v")
	if dir := deepest(tests); dir != "" {
		args = append(args, "-s", dir)
		if (directory{d.tree, path.Join(d.path, dir)}).has("__init__.py") {
			args = append(args, "-t", ".")
		}
	}
	if !slices.ContainsFunc(tests, func(name string) bool { return strings.HasPrefix(path.Base(name), "test") }) {
		args = append(args, "-p", "*_test.py")
	}
	return d.check("unittest", pawl.CheckTest, first, "has tests of unittest, and nothing names pytest", args...).reports("unittest", "")
}

// deepest returns the innermost directory that has all the paths.
func deepest(paths []string) string {
	dir := parent(paths[0])
	for slices.ContainsFunc(paths, func(p string) bool { return !below(p, dir) }) {
		dir = parent(dir)
	}
	return dir
}

// pythonSetup installs the locked dependencies of a project, and returns the command that runs Python with them.
func pythonSetup(d directory) (list []Found, run []string) {
	hosts := []string{"pypi.org", "files.pythonhosted.org"}
	switch {
	case d.has("uv.lock") && d.installed("uv"):
		sync := d.check("uv-sync", pawl.CheckSetup, "uv.lock", "locks dependencies", append([]string{"uv", "sync", "--frozen"}, extras(d)...)...).env("UV_PYTHON_DOWNLOADS=never")
		sync.Network = hosts
		return []Found{sync}, []string{"uv", "run", "--frozen", "--no-sync", "--offline", "python"}
	case d.has("poetry.lock") && d.installed("poetry"):
		install := d.check("poetry-install", pawl.CheckSetup, "poetry.lock", "locks dependencies", "poetry", "install", "--no-interaction").env(poetryEnv)
		install.Network = hosts
		return []Found{install}, []string{"poetry", "run", "python"}
	default:
		return nil, []string{"python3"}
	}
}

// extras returns flags that install the optional dependencies for tests.
func extras(d directory) (flags []string) {
	var p struct {
		Project struct {
			Optional map[string]any `toml:"optional-dependencies"`
		}
	}
	if _, err := toml.Decode(d.text("pyproject.toml"), &p); err != nil {
		return nil
	}
	for _, name := range []string{"dev", "test", "testing", "tests"} {
		if p.Project.Optional[name] != nil {
			flags = append(flags, "--extra", name)
		}
	}
	return flags
}
