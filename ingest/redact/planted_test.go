package redact_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/redact"
)

// plants are secrets as they stand in real files; what must go stands in 〈〉. They are made up.
const plants = `
x 〈glagent-sSOAnsmCdyAEPqaL7VsPm1QtfBhIFipThwH27ZsooGvP3Toz82〉 y
x 〈HRKU-AA3DSsujLtXU4yvIEhOycXXbspVWYVO8g0mZDkXivAVzGJc2Z8nacqapNrZ5〉 y
x 〈sm_aat_k4eN6izzjfopznbP〉 y
x 〈pscale_tkn_S2XLyxKgOfgtX6ugk9aUuSkkF6ohbwnD〉 y
x 〈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〉 y
x 〈tk-us-CYcLZ70oFluAvrUrtes2jlOecjK1yXk5egHLpVrJndyg2PRo〉 y
x 〈sha256~RL4cGcRa0EcOjf5BZFbmwHGQIsVBgXpyLf9rZRJU0wh〉 y
x 〈EZAKuMo5XxwX5u9ihSbcTFNpA2vDkpTZ0jzBXqXxRfbSfJ7aJ3cGxnHbX2Z〉 y
x 〈duffel_live_9wWrkNkPURR2gOFL5N68mVDGFXPvQp8Jb7itJAAAAAAAA〉 y
--password 〈hunter2pw〉 --port 8000
--password=〈hunter2pw〉
--passwd '〈correct horse battery〉' x
--api_key "〈k1〉"
-api-key 〈kkk〉
["--password", "〈hunter2pw〉", "--port", "8000"]
['--api-key', '〈hunter2pw〉']
"--hf-token","〈abcdef〉"
api_key=〈['abc', 'def']〉
api_key: 〈["abc","def"]〉
api_key='〈abc〉'
Namespace(api_key='〈abc〉', port=8000)
api_key=b'〈abc〉'
{"api_key": "〈abc〉", "x": 1}
{\"api_key\": \"〈abc def〉\", \"x\": 1}
{'hf_token': '〈abc〉'}
{"accessToken":"〈abcdef〉"}
{"apiKey":"〈abcdef〉"}
{"clientSecret":"〈abcdef〉"}
os.environ["HF_TOKEN"] = "〈abc〉"
environ({'SHELL': '/bin/sh', 'OPENAI_API_KEY': '〈abcdef〉', 'PWD': '/x'})
export AWS_SECRET_ACCESS_KEY=〈wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY〉
AWS_SESSION_TOKEN=〈IQoJb3JpZ2luX2VjEXAMPLE//////////〉
DB_PASS=〈abc〉
DB_PASSWORD=〈my long pass phrase〉
declare -x JWT_SECRET="〈topsecret〉"
SSHPASS=〈abcdef〉
PGPASSWORD=〈abcdef〉 psql
REGISTRY_PWD=〈abc123〉
Server=db;Uid=sa;Pwd=〈abc123〉;Encrypt=no
DefaultEndpointsProtocol=https;AccountName=x;AccountKey=〈Eby8vdM02xNOcqFlqUwJ/KBHBeksoGMGw==〉;EndpointSuffix=core
SharedAccessKey=〈abcdefABCDEF0123456789=〉
Authorization: Bearer 〈abcdef123456〉
Authorization: Basic 〈dXNlcjpwYXNz〉
authorization: 〈Token abcdef〉
"Authorization": "〈Bearer abc.def〉"
-H 'Authorization: 〈Digest username="u", response="abc"〉' x
Proxy-Authorization: Basic 〈dXNlcjpwYXNz〉
Cookie: 〈session=abc; csrftoken=def〉
Set-Cookie: 〈sid=abc; Path=/; HttpOnly〉
-H 'Cookie: 〈a=b; c=d〉' http://h/
"cookie": "〈a=b; c=d〉"
X-Api-Key: 〈abcdef〉
x-auth-token=〈abc〉
bearer 〈abcdefgh12〉
got Bearer%20〈abcdefgh12〉
curl -u bob:〈hunter2〉 http://h/
curl --user bob:〈hunter2〉 http://h/
curl --proxy-user bob:〈hunter2〉 http://h/
["curl", "--user", "bob:〈hunter2〉"]
https://〈bob:hunter2〉@host/v1
postgres://〈u:p%40ss〉@db:5432/x
redis://〈:hunter2〉@cache/0
mongodb+srv://〈u:pw〉@cluster.example/x
amqp://〈guest:guest〉@mq
https://〈ghx0123456789abcdefghij〉@github.com/x.git
HTTPS://〈bob:hunter2〉@HOST/
http://h/v1?api_key=〈abc〉&x=1
http://h/v1?x=1&token=〈abc〉
http://h/v1?key=〈abc〉
https://x.blob.core.windows.net/c?sv=2020&sig=〈abc%2Fdef%3D〉&se=1
https://s3/x?X-Amz-Credential=〈AKIA%2F2026〉&X-Amz-Signature=〈abcdef〉
https://h/cb?code=〈abcdef〉&state=1
https://hooks.slack.com/〈services/T000/B000/XXXX〉 ok
https://discord.com/api/webhooks/〈123/abc-DEF〉
https://x.webhook.office.com/〈webhookb2/abc@def/IncomingWebhook/1〉
https://api.telegram.org/bot〈123456789:AAabcdefghijklmnopqrstuvwxyz0123456〉/sendMessage
notify with 123456789:〈AAabcdefghijklmnopqrstuvwxyz012345678〉 ok
{"sid": "〈SK0123456789abcdef0123456789abcdef〉"}
〈nvapi-AbCdEfGh0123456789_-abcdefgh〉
〈AIzaSyA0123456789abcdefghijklmnopqrstu〉
〈ghp_0123456789abcdefghij0123456789abcdef〉
〈gho_0123456789abcdefghij0123456789abcdef〉
〈ghu_0123456789abcdefghij0123456789abcdef〉
〈ghs_0123456789abcdefghij0123456789abcdef〉
〈ghr_0123456789abcdefghij0123456789abcdef〉
〈github_pat_11ABCDEFG0123456789_abcdefghijklmnop〉
〈glpat-0123456789abcdefghij〉
〈npm_0123456789abcdefghij0123456789abcdef〉
〈hf_AbCdEfGhIjKlMnOpQrStUvWxYz01234567〉
〈sk-proj-AbCdEfGh1234567890〉
〈sk-ant-api03-abcdefghijklmnop-AA〉
〈sk_live_0123456789abcdef〉
〈xoxb-1234567890-abcdefghijkl〉
〈xapp-1-A0123456789-abcdef〉
〈AKIAIOSFODNN7EXAMPLE〉
〈ASIAIOSFODNN7EXAMPLE〉
〈pypi-AgEIcHlwaS5vcmcCJDAwMDAwMDAw〉
〈ya29.a0AfH6SMBx0123456789abcdef〉
〈GOCSPX-0123456789abcdefghij〉
〈SG.abcdefghijklmnopqrstuv.0123456789abcdefghijklmnopqrstuvwxyzABCDEFG〉
〈dckr_pat_0123456789abcdefghij〉
〈gsk_0123456789abcdefghij0123〉
〈r8_0123456789abcdefghij0123456〉
〈xai-0123456789abcdefghij0123456〉
〈pplx-0123456789abcdefghij0123456〉
〈dop_v1_0123456789abcdef0123456789abcdef〉
〈hvs.0123456789abcdefghijklmnop〉
〈eyJhbGciOiJIUzI1NiJ9.eyJ0ZWFtIjoidHQifQ.abc-def_ghi〉
〈-----BEGIN RSA PRIVATE KEY-----\nMIIEabc\n-----END RSA PRIVATE KEY-----〉
〈-----BEGIN OPENSSH PRIVATE KEY----- b3BlbnNzaC1rZXk cut here〉
password: 〈abc〉
token: "〈abc〉"
secret => '〈abc〉'
API key: 〈abc123〉
private_key: "〈abc〉"
credentials=〈abc〉
client_secret_v2=〈abc〉
`

func TestPlantedSecretsGo(t *testing.T) {
	tried, held := 0, 0
	for line := range strings.Lines(strings.TrimPrefix(plants, "\n")) {
		line = strings.ReplaceAll(strings.TrimSuffix(line, "\n"), `\n`, "\n")
		in := strings.NewReplacer("〈", "", "〉", "").Replace(line)
		for _, before := range []string{"", "INFO 11-22 12:00:00 server.py:12] ", "{\"text\": \"x\"} "} {
			if before != "" && strings.HasPrefix(in, "DB_PASSWORD=my long") {
				continue // blanks belong to the value where an assignment has a line of its own
			}
			tried++
			got := redact.Text(before + in)
			kept := ""
			for rest := line; ; {
				_, after, ok := strings.Cut(rest, "〈")
				if !ok {
					break
				}
				var secret string
				secret, rest, _ = strings.Cut(after, "〉")
				for _, word := range strings.FieldsFunc(secret, func(r rune) bool { return strings.ContainsRune(" \"'[],;=", r) }) {
					if len(word) > 2 && word != "Path" && word != "Token" && word != "Bearer" && strings.Contains(got, word) {
						kept = word
					}
				}
			}
			if kept != "" || !strings.Contains(got, redact.Mark) {
				t.Errorf("%q: %q", before+in, got)
			} else {
				held++
			}
			if again := redact.Text(got); again != got {
				t.Errorf("not idempotent: %q then %q", got, again)
			}
		}
	}
	t.Logf("%d of %d held", held, tried)
}

func TestInnocentTextStays(t *testing.T) {
	for _, s := range []string{
		"Avg prompt throughput: 123.4 tokens/s, Avg generation throughput: 56.7 tokens/s, Running: 3 reqs",
		"tokens: 1024", "max_tokens=128", "eos_token: </s>", "bos_token='<s>'", "time_per_output_token: 12.5",
		"token_ids=[1, 2]",
		"pad_token_id=0", "tokenizer=meta-llama/Llama-3.1-8B-Instruct", "--tokenizer ./tiny --served-model-name x",
		"pass: 3, fail: 0", "3 passed", "PWD=/data/x", "the basic configuration works", "Basic usage",
		"Bearer token is missing",
		"git@github.com:acme/x.git", "ssh://git@github.com/acme/x.git", "http://127.0.0.1:8000/v1?stream=true",
		"user@example.org",
		"prefix-cache hit: 12%, key cache 3 GB, kv_cache_dtype=fp8", "task-oriented-dialogue-benchmark", "risk-averse",
		"disk-usage-total",
		"-----BEGIN CERTIFICATE-----", "secretary", "results/a/raw/b.json", "--port 8000 --max-num-seqs 256",
		"--no-enable-token-cache",
		"hf_transfer=1", "hf_transformers", "hf_torchcompile", "hf_hub_download", "sk-learn", "npm_config", "key-value",
		"cookies", "authorization failed",
		"-u 5", "--user 1000", "docker run --user 1000:1000 x", "--user-agent a:b", "--username a:b",
		"/homepage", "/rooted", "a/root/b", "http://h:1/v1/completions: HTTP 401", "SG.x", "the password is wrong", "api key",
		"deepseek-ai/DeepSeek-R1-0528", "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	} {
		if got := redact.Text(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}

func TestURL(t *testing.T) {
	for in, want := range map[string]string{
		"http://bob:pw@h:1/v1": "http://h:1/v1", "http://h:1/v1?api_key=abc&x=1": "http://h:1/v1?x=1",
		"http://h:1":     "http://h:1",
		"https://tok@h/": "https://h/", "sim": "sim", "http://h/?key=abc": "http://h/",
		"http://h/?b=2&a=1": "http://h/?b=2&a=1",
	} {
		if got := redact.URL(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestKnownValuesGo(t *testing.T) {
	redact.KnowEnvironment([]string{
		"ODD_TOKEN=pelican/feather 77", "DATABASE_URL=postgres://u:walrus%21tusk@db/x", "LONG_PATH=/usr/bin",
		"GOOGLE_CREDENTIALS=/proc",
		"EMPTY_SECRET=", "SHORT_SECRET=ab", "NONE_TOKEN=none", "X_API_KEY=EMPTY",
		"MYTOKEN=stoatstoat",
	})
	redact.Know("otterotter")
	for _, in := range []string{
		"it says pelican/feather 77.", "q=pelican%2Ffeather+77", "walrus!tusk", "xotterottery", "a stoatstoat b",
		"a.pelican/feather 77-otterotter",
	} {
		got := redact.Text(in)
		if strings.Contains(got, "pelican") || strings.Contains(got, "walrus") || strings.Contains(got, "otter") ||
			strings.Contains(got, "stoat") {
			t.Errorf("%q: %q", in, got)
		}
	}
	for _, in := range []string{"/proc/cpuinfo", "EMPTY", "none", "ab", "/usr/bin"} {
		if got := redact.Text(in); got != in {
			t.Errorf("%q: %q", in, got)
		}
	}
}

func TestWriter(t *testing.T) {
	const key = "-----BEGIN PRIVATE KEY-----\nMIIEvQ\nabcdefgh\n-----END PRIVATE KEY-----\n"
	in := "start\n--password hunter2pw\n" + key + "progress 1%\rprogress 2%\rBearer abcdef1234\n" +
		strings.Repeat("x", 40000) +
		" --password hunter2pw\nend without a line's end token=abcdef"
	for _, step := range []int{1, 7, 4096, len(in)} {
		var out bytes.Buffer
		w := redact.NewWriter(&out)
		for rest := in; rest != ""; rest = rest[min(step, len(rest)):] {
			if _, err := io.WriteString(w, rest[:min(step, len(rest))]); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{"hunter2", "MIIE", "abcdef"} {
			if strings.Contains(out.String(), secret) {
				t.Errorf("step %d: %q in %.300q", step, secret, out.String())
			}
		}
		for _, stays := range []string{"start\n", "progress 2%\r", "end without"} {
			if !strings.Contains(out.String(), stays) {
				t.Errorf("step %d: %q is not in %.300q", step, stays, out.String())
			}
		}
	}
}

// A log as vLLM prints it, a line in fifty with something to look at closely.
func logLines(size int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "INFO 11-22 12:%02d:%02d [loggers.py:118] Engine 000: Avg prompt throughput: %d.4 tokens/s, "+
			"Avg generation throughput: %d.7 tokens/s, Running: 3 reqs, GPU KV cache usage: 1.2%%, "+
			"Prefix cache hit rate: 0.0%%\n", i/60%60, i%60, i, i)
		if i%50 == 0 {
			fmt.Fprintf(&b, "INFO: 127.0.0.1:%d - \"POST http://127.0.0.1:8000/v1/completions HTTP/1.1\" 200 OK "+
				"api_key='k%d'\n", i, i)
		}
	}
	return b.Bytes()
}

func BenchmarkWriter(b *testing.B) {
	data := logLines(10 << 20)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		w := redact.NewWriter(io.Discard)
		if _, err := w.Write(data); err != nil || w.Close() != nil {
			b.Fatal(err)
		}
	}
}
