package console

import (
	"regexp"
	"strings"
)

// client matches the command of a load test: vLLM's, its older script, sglang's.
var client = regexp.MustCompile(
	`(?:\bvllm bench serve|\bbenchmark_serving\.py|\bsglang\.bench_serving|\bbench_serving\.py)\s+(-.*)$`)

// Limits of a command that goes over several lines.
const (
	longestCommand = 8000
	aliasInput     = "random_input"
	aliasOutput    = "random_output"
)

// command reads the arguments of a load test's command, as a script or a report prints it above the result. An argument
// with a variable of the shell is left out: nobody knows its value. nil for any other line.
func command(line string) map[string]string {
	m := client.FindStringSubmatch(line)
	if m == nil || len(line) > longestCommand {
		return nil
	}
	out := map[string]string{}
	name := ""
	for _, w := range shellWords(m[1]) {
		flag, isFlag := strings.CutPrefix(w, "--")
		switch {
		case isFlag:
			var value string
			var has bool
			name, value, has = strings.Cut(flag, "=")
			name = strings.ReplaceAll(name, "-", "_")
			switch name {
			case aliasInput, aliasOutput:
				name += "_len"
			}
			out[name] = "True"
			if has {
				set(out, name, value)
				name = ""
			}
		case name != "":
			set(out, name, w)
			name = ""
		}
	}
	return out
}

func set(args map[string]string, name, value string) {
	if strings.ContainsAny(value, "$`") {
		delete(args, name)
		return
	}
	args[name] = value
}

// shellWords splits a command at blanks outside of quotes, up to where the shell ends it.
func shellWords(text string) []string {
	var out []string
	var word strings.Builder
	quote, in := byte(0), false
	end := func() {
		if in {
			out = append(out, word.String())
		}
		word.Reset()
		in = false
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, in = c, true
		case quote == 0 && (c == ' ' || c == '\t'):
			end()
		case quote == 0 && strings.IndexByte("|;&>", c) >= 0:
			end()
			return out
		default:
			word.WriteByte(c)
			in = true
		}
	}
	end()
	return out
}

// joined joins lines that end in a backslash.
type joined struct{ before string }

// add returns the whole line, or ok false while it goes on.
func (j *joined) add(line string) (whole string, ok bool) {
	rest, more := strings.CutSuffix(line, `\`)
	if more && len(j.before) < longestCommand {
		j.before += rest + " "
		return "", false
	}
	whole, j.before = j.before+line, ""
	return whole, true
}
