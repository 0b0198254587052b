#!/usr/bin/env bash
# Brings ECharts' built file of what most charts need, its licence and notice from its npm package into assets/. The
# version and the checksum of the package are fixed here; another file than the one that was reviewed fails. Needs npm;
# run from any folder.
set -euo pipefail
version=6.1.0
sha256=681aff88cc1038c3fa941a3a53d1b177a52250b05335efc607d6105ae13be481
here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
(cd "$tmp" && npm pack --silent "echarts@$version" >/dev/null)
echo "$sha256  $tmp/echarts-$version.tgz" | sha256sum --check --quiet
tar -xzf "$tmp/echarts-$version.tgz" -C "$tmp" package/dist/echarts.common.min.js package/LICENSE package/NOTICE
gzip -9 -n < "$tmp/package/dist/echarts.common.min.js" > "$here/assets/echarts.min.js.gz"
cp "$tmp/package/LICENSE" "$here/assets/echarts.LICENSE.txt"
cp "$tmp/package/NOTICE" "$here/assets/echarts.NOTICE.txt"
(cd "$here/assets" && sha256sum echarts.min.js.gz echarts.LICENSE.txt echarts.NOTICE.txt > ../echarts.sha256)
echo "echarts $version"
