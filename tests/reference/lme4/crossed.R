# Variance components of lme4, for tests/stats/test_crossed_reference.py.
# Rscript crossed.R   writes data.csv and values.csv beside it. R 4.2.2, lme4 1.1-31.
library(lme4)
set.seed(20240611)

grid <- function(...) expand.grid(..., KEEP.OUT.ATTRS = FALSE)
effect <- function(levels, sd) rnorm(max(levels), sd = sd)[levels]
data <- list()
values <- list()

keep <- function(name, frame, formula, link = NULL) {
  factors <- setdiff(names(frame), "y")
  fit <- if (!is.null(link)) {
    glmer(formula, frame, family = binomial(link), control = glmerControl(tolPwrss = 1e-9))
  } else {
    lmer(formula, frame, REML = TRUE, control = lmerControl(optCtrl = list(maxeval = 1e5, xtol_abs = 1e-10, ftol_abs = 1e-12)))
  }
  found <- as.data.frame(VarCorr(fit))
  values[[name]] <<- data.frame(set = name, term = found$grp, sd = format(found$sdcor, digits = 12))
  for (factor in c("question", "seed", "system", "passage")) if (!factor %in% factors) frame[[factor]] <- NA
  data[[name]] <<- data.frame(set = name, frame[c("y", "question", "seed", "system", "passage")])
}

cells <- grid(question = 1:40, seed = 1:5)
cells$y <- 2 + effect(cells$question, 1) + effect(cells$seed, 0.5) + rnorm(nrow(cells))
keep("gauss balanced", cells, y ~ (1 | question) + (1 | seed))

keep("gauss incomplete", cells[runif(nrow(cells)) < 0.7, ], y ~ (1 | question) + (1 | seed))

cells <- grid(trial = 1:3, question = 1:25, seed = 1:4)
both <- as.integer(interaction(cells$question, cells$seed))
cells$y <- effect(cells$question, 0.8) + effect(cells$seed, 0.4) + effect(both, 0.6) + rnorm(nrow(cells), sd = 0.7)
cells$trial <- NULL
keep("gauss interaction", cells, y ~ (1 | question) + (1 | seed) + (1 | question:seed))

cells <- grid(seed = 1:4, question = 1:60)
cells$passage <- rep(1:15, times = 4 * c(1, 2, 3, 4, 5, 6, 7, 8, 4, 4, 4, 4, 4, 2, 2))
cells$y <- effect(cells$passage, 1) + effect(cells$question, 0.7) + effect(cells$seed, 0.5) + rnorm(nrow(cells))
keep("gauss nested", cells, y ~ (1 | passage) + (1 | question) + (1 | seed) + (1 | passage:seed))

cells <- grid(question = 1:30, seed = 1:4, system = 1:5)
cells$y <- effect(cells$question, 1) + effect(cells$seed, 0.3) + effect(cells$system, 0.8) +
  effect(as.integer(interaction(cells$question, cells$system)), 0.5) + rnorm(nrow(cells), sd = 0.6)
three <- y ~ (1 | question) + (1 | seed) + (1 | system) + (1 | question:seed) + (1 | question:system) + (1 | seed:system)
keep("gauss three factors", cells, three)

keep("gauss three factors, incomplete", cells[runif(nrow(cells)) < 0.8, ], three)

binomial_cells <- function(questions, seeds, sd_question, sd_seed, mean, chance = plogis) {
  cells <- grid(question = 1:questions, seed = 1:seeds)
  eta <- mean + effect(cells$question, sd_question) + effect(cells$seed, sd_seed)
  cells$y <- rbinom(nrow(cells), 1, chance(eta))
  cells
}
both <- y ~ (1 | question) + (1 | seed)
keep("binomial even", binomial_cells(300, 10, 1, 0.6, 0), both, "logit")
keep("binomial high", binomial_cells(500, 10, 1, 0.5, 1.8), both, "logit")
keep("binomial hard", binomial_cells(400, 20, 1.5, 0.4, -1), both, "logit")
cells <- binomial_cells(400, 12, 1, 0.8, 0.5)
keep("binomial incomplete", cells[runif(nrow(cells)) < 0.7, ], both, "logit")

keep("probit even", binomial_cells(300, 10, 0.6, 0.4, 0, pnorm), both, "probit")
keep("probit high", binomial_cells(500, 20, 0.8, 0.3, 1.1, pnorm), both, "probit")

write.csv(do.call(rbind, data), gzfile("data.csv.gz"), row.names = FALSE, quote = FALSE, na = "")
write.csv(do.call(rbind, values), "values.csv", row.names = FALSE, quote = FALSE)
