// Rules for the scripts of the site: what is an error, or can be said more simply.
import js from "@eslint/js";

const names = `window document location history navigator localStorage matchMedia addEventListener getComputedStyle
  scrollTo innerWidth innerHeight setTimeout clearTimeout requestAnimationFrame URL URLSearchParams Blob Response Option
  DecompressionStream IntersectionObserver MutationObserver ResizeObserver atob echarts ttreport`;
const globals = Object.fromEntries(names.split(/\s+/).map((name) => [name, "readonly"]));
export default [
  { ignores: ["**/*.min.js"] },
  js.configs.recommended,
  {
    languageOptions: { sourceType: "script", globals },
    rules: {
      "arrow-body-style": "error",
      eqeqeq: ["error", "always", { null: "ignore" }],
      "no-else-return": "error",
      "no-lonely-if": "error",
      "no-unneeded-ternary": "error",
      "no-unused-expressions": "error",
      "no-unused-vars": ["error", { caughtErrors: "none" }],
      "no-useless-return": "error",
      "object-shorthand": ["error", "properties"],
      "prefer-arrow-callback": "error"
    }
  }
];
