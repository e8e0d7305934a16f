// Pages come before modules, classes and functions, which otherwise fill the first screen of every search.
var Scorer = {
  score: ([docname, , , , score, , kind]) => (kind === "object" || docname.startsWith("_generated/api/") ? score - 30 : score),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
