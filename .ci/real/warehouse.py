"""What a query engine says of the Parquet files of an export."""
import json, os, re, shutil, sys

import commands
from servers import Skip

ASK = {
    "duckdb": """
import duckdb
ask = lambda q: duckdb.sql(q).fetchall()
""",
    "spark": """
import re
from pyspark.sql import SparkSession
session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config(
    "spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
table = re.compile(r"'(warehouse/\\w+)/\\*/\\*\\.parquet'")
ask = lambda q: [tuple(r) for r in session.sql(table.sub(r"parquet.`\\1`", q).strip().rstrip(";")).collect()]
""",
}
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>real</groupId><artifactId>trino</artifactId><version>1</version><dependencies><dependency>
<groupId>io.trino</groupId><artifactId>trino-main</artifactId><version>435</version></dependency></dependencies>
</project>
"""
TRINO = """import io.trino.sql.parser.SqlParser;
import io.trino.testing.*;
import java.nio.file.*;

public class Ask {
    public static void main(String[] argv) throws Exception {
        String tables = Files.readString(Path.of(argv[0]));
        LocalQueryRunner trino = LocalQueryRunner.create(TestingSession.testSessionBuilder().build());
        for (int i = 1; i < argv.length; i++) {
            String q = argv[i].strip().replaceAll(";$", "");
            if (!q.startsWith("SELECT")) {
                new SqlParser().createStatement(q);
                continue;
            }
            var rows = new java.util.ArrayList<Object>();
            for (MaterializedRow row : trino.execute("WITH " + tables + " " + q)) {
                rows.add(row.getFields());
            }
            System.out.println("ROWS " + new com.fasterxml.jackson.databind.ObjectMapper().writeValueAsString(rows));
        }
        System.exit(0);
    }
}
"""
TABLES = """
import duckdb, json, re, sys
out = []
for text in sys.argv[1:]:
    name = re.search(r"hive[.]bench[.](\\w+)", text)[1]
    columns = re.findall(r"(\\w+) (varchar|double|boolean|bigint)[,)]", text)
    names = ", ".join(c for c, _ in columns)
    rows = duckdb.sql(f"SELECT {names} FROM 'warehouse/{name}/*/*.parquet'").fetchall()
    data = json.dumps([list(r) for r in rows]).replace("'", "''")
    row = ", ".join(" ".join(c) for c in columns)
    out.append(f"{name} AS (SELECT * FROM UNNEST(CAST(json_parse('{data}') AS ARRAY(ROW({row})))))")
print(", ".join(out))
"""
MAIN = """
import json, sys
print("ROWS " + json.dumps([sorted(map(repr, ask(q))) for q in sys.argv[1:]]))
"""


def statements(begin, end):
    """The statements of the page between two headings."""
    with open(f"{commands.ROOT}/templates/docs/export.md") as f:
        text = f.read()
    return re.findall(r"(?:^    .*\n)+", text[text.index(begin):text.index(end) if end else None], re.M)


def page():
    """The queries of the page."""
    return statements("## DuckDB", "## Spark")


def rows(engine, work, folder):
    """What the queries find, by an engine from PyPI."""
    env, package = f"{work}/{engine}", {"duckdb": "duckdb", "spark": "pyspark"}[engine]
    if not os.path.exists(env):
        commands.sh(sys.executable, "-m", "venv", env, cwd=work)
        commands.fetched("uv", "pip", "install", "-q", "--python", f"{env}/bin/python", package, cwd=work)
    out = commands.sh(f"{env}/bin/python", "-c", ASK[engine] + MAIN, *page(), cwd=folder)
    return json.loads(out[out.index("ROWS ") + 5:].split("\n")[0])


def queries(engine, work, folder):
    """Whether the queries find something; those of another engine than DuckDB, whether they find the same."""
    if engine == "spark" and not shutil.which("java"):
        raise Skip("no Java")
    found = rows(engine, work, folder)
    counts = [len(r) for r in found]
    if len(counts) != 5 or 0 in counts[:3] + counts[4:]:
        return f"NO: rows {counts}"
    if engine != "duckdb" and found != rows("duckdb", work, folder):
        return "NO: other rows than DuckDB's"
    return "yes"


def trino(work, folder):
    """Whether Trino's engine takes the lines of the page, and finds what DuckDB finds. It is given the rows that DuckDB
    reads from the files: its connectors that read Parquet could not be had here."""
    if not shutil.which("java") or not shutil.which("mvn"):
        raise Skip("no Java or Maven")
    want, at = rows("duckdb", work, folder), f"{work}/trino"
    os.makedirs(at, exist_ok=True)
    for name, text in (("pom.xml", POM), ("Ask.java", TRINO)):
        with open(f"{at}/{name}", "w") as f:
            f.write(text)
    commands.sh("mvn", "-B", "-q", "dependency:copy-dependencies", "-DoutputDirectory=lib", cwd=at)
    lines = statements("## Trino", "")
    made = [q for q in lines if "CREATE TABLE" in q]
    with open(f"{at}/tables.sql", "w") as f:
        f.write(commands.sh(f"{work}/duckdb/bin/python", "-c", TABLES, *made, cwd=folder))
    out = commands.sh("java", "-cp", "lib/*", "Ask.java", "tables.sql", *lines, cwd=at)
    found = [sorted(repr(tuple(r)) for r in json.loads(line[5:])) for line in out.splitlines()
             if line.startswith("ROWS ")]
    if len(made) != 3 or 0 in [len(r) for r in found[:3]]:
        return f"NO: {len(made)} tables, rows {[len(r) for r in found]}"
    return "yes" if found == want else f"NO: {found}, DuckDB's {want}"
