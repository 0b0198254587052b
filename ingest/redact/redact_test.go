package redact_test

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/redact"
)

// The secrets are made up.
func TestSecretsGo(t *testing.T) {
	for _, c := range []struct{ in, secret string }{
		{"HF_TOKEN=hf_abcdefghijklmnopqrst vllm serve", "hf_abcdefghijklmnopqrst"},
		{"--api-key s3cr3tvalue --port 8000", "s3cr3tvalue"},
		{"--api-key=s3cr3tvalue", "s3cr3tvalue"},
		{"curl -H 'Authorization: Bearer abc.def-123456'", "abc.def-123456"},
		{`{"headers":{"Authorization":"Bearer zzz99887766"},"api_key":"kkk"}`, "zzz99887766"},
		{`"api_key": "kkk111222"`, "kkk111222"},
		{"OPENAI_API_KEY=sk-proj-AbCdEfGh1234567890", "sk-proj-AbCdEfGh1234567890"},
		{"token eyJhbGciOiJIUzI1NiJ9.eyJ0ZWFtIjoidHQifQ.abc-def_ghi here", "eyJ0ZWFtIjoidHQifQ"},
		{"https://user:hunter2pass@host/v1", "hunter2pass"},
		{"JWT_SECRET: topsecretvalue", "topsecretvalue"},
		{"password=correcthorse", "correcthorse"},
		{"key AKIAABCDEFGHIJKLMNOP", "AKIAABCDEFGHIJKLMNOP"},
		{"ghp_0123456789abcdefghij0123", "ghp_0123456789abcdefghij0123"},
		{"--api-token SECRETA11", "SECRETA11"},
		{"--github-token SECRETB22", "SECRETB22"},
		{"--url http://h/?key=SECRETD33&x=1", "SECRETD33"},
		{"--extra-inputs user_token:SECRETE44", "SECRETE44"},
		{"X-Auth: SECRETH55", "SECRETH55"},
		{"/home/alice/models/x", "alice"},
		{"/Users/alice/models/x", "alice"},
	} {
		got := redact.Text(c.in)
		if strings.Contains(got, c.secret) {
			t.Errorf("%q kept its secret: %q", c.in, got)
		}
		if again := redact.Text(got); again != got {
			t.Errorf("not idempotent: %q then %q", got, again)
		}
	}
}

func TestHarmlessTextStays(t *testing.T) {
	for _, s := range []string{"vllm bench serve --model m --max-concurrency 32 --ignore-eos",
		"tokenizer meta-llama/Llama-3.1-8B-Instruct", "isl=128,osl=128,c=1,n=8", "http://127.0.0.1:8000/v1",
		"the tokens per second were 12", "--max-tokens 128", "results/a/raw/b.json", "total_output_tokens: 1024",
		"tpot_seconds_per_token: tpot mean s"} {
		if got := redact.Text(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}

func TestArgv(t *testing.T) {
	in := []string{
		"vllm", "bench", "serve", "--header", "Authorization=Token abcdef", "--token", "abcd1234", "--max-tokens", "128",
		"--model", "/home/bob/m",
	}
	got := strings.Join(redact.Argv(in), " ")
	for _, secret := range []string{"abcdef", "abcd1234", "bob"} {
		if strings.Contains(got, secret) {
			t.Errorf("%q is still in %q", secret, got)
		}
	}
	if got := redact.Field("password", "hunter2pw") + redact.Field("github_token", "tok_x1") + redact.Field("api_key",
		"k"); strings.Contains(got, "hunter2") || strings.Contains(got, "tok_x1") || strings.Contains(got, "k1") {
		t.Errorf("a field named after a secret keeps it: %s", got)
	}
	if redact.Field("max_tokens", "128") != "128" || redact.Field("tokenizer", "x") != "x" {
		t.Error("a harmless field went")
	}
	for _, argv := range [][]string{
		{"x", "password:", "hunter2pw"}, {"x", "password:", "my hunter2pw"}, {"x", "--password", "my hunter2pw"},
		{"x", "secret_key", "=", "hunter2pw"}, {"x", `["--api-key",`, `"hunter2pw"]`},
		{"x", "{'hf_token':", "'hunter2pw'}"}, {"x", "X-Api-Key:", "hunter2pw"},
		{"x", "-----BEGIN", "RSA", "PRIVATE", "KEY-----\nhunter2pw\n-----END", "RSA"},
		{"x", "machine h login bob password hunter2pw"}, {"x", `{"auths":{"h":{"auth":"hunter2pwhunter2pw=="}}}`},
		{"x", `{\"auth\":\"hunter2pwhunter2pw\"}`},
	} {
		if left := strings.Join(redact.Argv(argv), " "); strings.Contains(left, "hunter2") {
			t.Errorf("%q becomes %q", argv, left)
		}
	}
	innocent := []string{"x", "--goodput", "time_to_first_token:4000 request_latency:9000",
		"tokens:", "128", "max_tokens", "=", "5", "auth:", "none", "login", "bob",
		"last login failed"}
	if left := redact.Argv(innocent); strings.Join(left, " ") != strings.Join(innocent, " ") {
		t.Errorf("too much went: %q", left)
	}
	if !strings.Contains(got, "--max-tokens 128") || !strings.Contains(got, "~/m") {
		t.Errorf("too much went: %q", got)
	}
}

// Digits after --user are ids of a user and a group for docker and podman, and a name and its password for any other
// program; a proxy takes no ids.
func TestIDsAreOfContainers(t *testing.T) {
	for line, want := range map[string]string{
		"docker run --user 1000:1000 x":                        "",
		"sudo /usr/bin/podman run -u 0:0 x":                    "",
		"docker run --user=1000:1000 x":                        "",
		"curl -u 1001:482913 http://h/":                        "curl -u 1001:[redacted] http://h/",
		"curl --user 1001:482913 http://h/":                    "curl --user 1001:[redacted] http://h/",
		"curl --user=1001:482913 http://h/":                    "curl --user=1001:[redacted] http://h/",
		"curl -u :482913 http://h/":                            "curl -u :[redacted] http://h/",
		"docker run --user :482913 x":                          "docker run --user :[redacted] x",
		"curl --proxy-user 7:998877 http://h/":                 "curl --proxy-user 7:[redacted] http://h/",
		"docker run x --proxy-user 7:998877":                   "docker run x --proxy-user 7:[redacted]",
		"docker run --user 1:2 x curl -u 1001:482913 http://h": "docker run --user 1:2 x curl -u 1001:[redacted] http://h",
	} {
		if want == "" {
			want = line
		}
		if got := redact.Text(line); got != want {
			t.Errorf("%q became %q, want %q", line, got, want)
		}
		if got := strings.Join(redact.Argv(strings.Fields(line)), " "); got != want {
			t.Errorf("the arguments %q became %q, want %q", line, got, want)
		}
	}
	if got := redact.Text("docker run x\n-u 1001:482913"); strings.Contains(got, "482913") {
		t.Errorf("a program of the line before: %q", got)
	}
}

// The rules are applied whenever an expression could match: the trigger words agree with the expression of all
// triggers.
func FuzzText(f *testing.F) {
	for _, s := range []string{
		"Authorization: Bearer abcdef123456", "hf_abcdefghijklmnop", "HTTPS://a:b@c/", "/HOME/bob", "/home/bob/x",
		"ghp_abcdefghijklmnop", "A\u212aIA0123456789ABCDEF", "pa\u017fsword=hunter2", "x sig=abc", "C:\\Users\\bob",
		"eyJhbGciOi.abc.def",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := redact.Text(s)
		if twice := redact.Text(once); twice != once && len(s) < 1<<12 {
			t.Errorf("%q becomes %q and then %q", s, once, twice)
		}
		// Text next to a secret does not hide it.
		if beside := redact.Text(s + " --api-key hunter2pass"); len(s) < 1<<12 && strings.Contains(beside, "hunter2pass") {
			t.Errorf("%q hides a secret: %q", s, beside)
		}
	})
}
