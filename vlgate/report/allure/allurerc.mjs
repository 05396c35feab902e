// How Allure 3 shows a run of vlgate, and when `allure quality-gate` fails: exactly when the run does.
// vlgate writes this file beside its results: npx allure generate DIR --config DIR/allurerc.mjs
import { existsSync, readFileSync } from "node:fs";

const categories = []; // filled in when vlgate writes this file
const executor = new URL("executor.json", import.meta.url);
const layerOf = (result) => result.labels.find((label) => label.name === "layer")?.value;
const isGate = (result) => ["run", "gate"].includes(layerOf(result));
const wasRun = (result) => !result.labels.some((label) => label.name === "feature" && label.value === "not run");
// A missed case is a defect of the model, and the gates say how many are too many. Anything else that fails counts.
const decides = (result) => !["case", "task"].includes(layerOf(result)) || result.status !== "failed";
const title = (existsSync(executor) && JSON.parse(readFileSync(executor, "utf8")).reportName) || "vlgate";

export default {
  name: title,
  historyPath: process.env.ALLURE_HISTORY_PATH, // a file that is kept between runs, for the charts over time
  hideLabels: ["parentSuite", "suite", "subSuite", "layer", "framework", "language", "thread"],
  categories: {
    rules: categories.map((one) => ({
      name: one.name,
      matchers: [{ statuses: one.matchedStatuses, message: one.messageRegex }],
    })),
  },
  qualityGate: {
    rules: [
      { id: "the run was judged", filter: (result) => layerOf(result) === "run", minTestsCount: 1 },
      { id: "gates", filter: decides, maxFailures: 0 },
    ],
  },
  plugins: {
    gates: {
      import: "awesome",
      options: {
        reportName: `Gates: ${title}`,
        filter: (result) => isGate(result) && wasRun(result),
        groupBy: ["feature"],
        stepTreeExpansion: "expanded",
        charts: [
          { type: "currentStatus", title: "Gates of this run", metric: "passed" },
          { type: "statusDynamics", title: "Gates of the runs so far" },
          { type: "statusTransitions", title: "Gates that changed" },
        ],
      },
    },
    cases: {
      import: "awesome",
      options: {
        reportName: `Cases: ${title}`,
        filter: (result) => !isGate(result),
        groupBy: ["epic", "feature", "story"],
        stepTreeExpansion: "expanded",
        charts: [
          { type: "currentStatus", title: "Cases of this run", metric: "passed" },
          { type: "successRateDistribution", title: "Share of right cases, by capability and task" },
          { type: "statusTransitions", title: "Cases that changed" },
        ],
      },
    },
  },
};
