package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
)

func completionCommand() command {
	return command{
		name: "completion", args: "bash|zsh|fish", summary: "print a completion script for a shell",
		help: "Prints a script that completes commands and flags. It is made from the same table as the help.",
		examples: []example{
			{"bash, for this session", "source <(ttreport completion bash)"},
			{"zsh, for good", "ttreport completion zsh > ~/.zfunc/_ttreport"},
			{"fish, for good", "ttreport completion fish > ~/.config/fish/completions/ttreport.fish"},
		},
		setup: func(*pflag.FlagSet) runFunc {
			return func(_ context.Context, sh *shell, args []string) error {
				if len(args) != 1 {
					return fail(exitUsage, "ttreport completion bash", "completion: name a shell: bash, zsh or fish")
				}
				writers := map[string]func(io.Writer){"bash": completeBash, "zsh": completeZsh, "fish": completeFish}
				write, ok := writers[args[0]]
				if !ok {
					return fail(exitUsage, didYouMean(args[0], []string{"bash", "zsh", "fish"}, "ttreport completion ",
						"there are bash, zsh and fish"), "completion: no script for %q", args[0])
				}
				write(sh.out)
				return nil
			}
		},
	}
}

// flagNames lists a command's flags with their help.
func flagNames(c command) (names, usages []string) {
	fs := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	c.setup(fs)
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		_, usage := pflag.UnquoteUsage(f)
		names, usages = append(names, "--"+f.Name), append(usages, usage)
	})
	return append(names, "--help"), append(usages, "help of this command")
}

func commandNames() []string {
	var out []string
	for _, c := range commands() {
		out = append(out, c.name)
	}
	return out
}

func completeBash(w io.Writer) {
	fmt.Fprintf(w, `# bash completion of ttreport
_ttreport() {
  local cur=${COMP_WORDS[COMP_CWORD]} words=
  if [ "$COMP_CWORD" -eq 1 ]; then
    words=%q
  else
    case ${COMP_WORDS[1]} in
`, strings.Join(commandNames(), " "))
	for _, c := range commands() {
		names, _ := flagNames(c)
		fmt.Fprintf(w, "      %s) words=%q ;;\n", c.name, strings.Join(names, " "))
	}
	fmt.Fprint(w, `    esac
    case $cur in -*) ;; *) words= ;; esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _ttreport ttreport
`)
}

func completeZsh(w io.Writer) {
	fmt.Fprint(w, "#compdef ttreport\n_ttreport() {\n  local -a cmds\n  cmds=(\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "    %s\n", zshWord(c.name, c.summary))
	}
	fmt.Fprint(w, `  )
  if (( CURRENT == 2 )); then
    _describe command cmds
    return
  fi
  case $words[2] in
`)
	for _, c := range commands() {
		names, usages := flagNames(c)
		fmt.Fprintf(w, "    %s) _arguments", c.name)
		for i, n := range names {
			usage := strings.NewReplacer("'", "", "[", "(", "]", ")", ":", ",").Replace(usages[i])
			fmt.Fprintf(w, " '%s[%s]'", n, usage)
		}
		fmt.Fprint(w, " '*:file:_files' ;;\n")
	}
	fmt.Fprint(w, "  esac\n}\n_ttreport \"$@\"\n")
}

func zshWord(name, summary string) string {
	return "'" + name + ":" + strings.NewReplacer("'", "", ":", ",").Replace(summary) + "'"
}

func completeFish(w io.Writer) {
	fmt.Fprint(w, "# fish completion of ttreport\n")
	quote := func(s string) string { return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'" }
	for _, c := range commands() {
		fmt.Fprintf(w, "complete -c ttreport -n __fish_use_subcommand -f -a %s -d %s\n", c.name, quote(c.summary))
		names, usages := flagNames(c)
		for i, n := range names {
			fmt.Fprintf(w, "complete -c ttreport -n '__fish_seen_subcommand_from %s' -l %s -d %s\n", c.name,
				strings.TrimPrefix(n, "--"), quote(usages[i]))
		}
	}
}
