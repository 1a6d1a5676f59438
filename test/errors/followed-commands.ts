/** Who types what a next step says: a test, by its file and its name, or a reason why none does. */
export type Follower = readonly [file: string, test: string] | { readonly because: string }

const fromCode: Follower = { because: 'the command line refuses it before: only code that calls this reads it' }
const others: Follower = { because: 'it is a command of another program, and as it stands' }
const again: Follower = { because: 'it is the command that was typed, which test/cli/next-lines.test.ts holds' }

/**
 * Every next step that messages of what-ifs, blame, isolate, fix and doctor print, by the file that prints it and the words
 * before what is typed, as far as they are always the same.
 */
export const followed: Readonly<Record<string, Readonly<Record<string, Follower>>>> = {
  'src/blame/answered-alike.ts': {
    'to go on without them (they stay in the file)': again,
  },
  'src/blame/choose-oracle.ts': {
    'if a run is right that does it': [
      'test/cli/fix.test.ts',
      'refuses conditions that exclude each other, and says which no known run meets together',
    ],
    'if a run is wrong that does it': [
      'test/cli/fix.test.ts',
      'refuses conditions that exclude each other, and says which no known run meets together',
    ],
    'to grade runs by a function': [
      'test/cli/next-commands-refused.test.ts',
      'of blame: nobody said what is right, or named a function that is not there',
    ],
  },
  'src/blame/expectation.ts': {
    'to see which tools the run calls and what it returns': [
      'test/cli/next-commands-free.test.ts',
      'of blame: what was typed wrong, what no run knows, what it costs, where good answers are',
    ],
  },
  'src/blame/failed-run.ts': {
    'or ask which step a good run depends on': fromCode,
  },
  'src/blame/fix-task.ts': {
    'with enough runs': [
      'test/cli/fix.test.ts',
      'a prompt that changes nothing is no fix where its model was right by chance: it is right as asked before, too',
    ],
    'to run its test': [
      'test/cli/fix.test.ts',
      'leaves a golden set that is whole, in CI too, and a case that is red as soon as the fix is gone',
    ],
    'to find a run that went wrong': [
      'test/cli/fix.test.ts',
      'leaves a golden set that is whole, in CI too, and a case that is red as soon as the fix is gone',
    ],
    'to grade runs by a function': ['test/cli/fix.test.ts', 'does not guess what a good run is'],
    'to see which step decided': [
      'test/cli/fix.test.ts',
      'a fix that needs no model asks none, and one that is green without the fix is not written',
    ],
    'if you fixed a tool': [
      'test/cli/fix.test.ts',
      'a fix that needs no model asks none, and one that is green without the fix is not written',
    ],
  },
  'src/blame/fork-reads.ts': {
    'to start again (the earlier forks stay in the file)': [
      'test/cli/next-commands.test.ts',
      'with a model without a price, a limit that was reached and code that changed comes to the verdict',
    ],
    'to go on without them': [
      'test/cli/next-commands.test.ts',
      'with a model without a price, a limit that was reached and code that changed comes to the verdict',
    ],
  },
  'src/blame/regrading.ts': {
    'to grade runs by a call that is right': [
      'test/cli/next-commands.test.ts',
      'with an oracle that calls nothing ok any more comes to a call that is right, or starts again',
    ],
    'if the oracle is right today, to start again (the earlier forks stay in the file)': [
      'test/cli/next-commands.test.ts',
      'with an oracle that calls nothing ok any more comes to a call that is right, or starts again',
    ],
  },
  'src/blame/fork-source.ts': {
    'to find the line that makes the run irreproducible': [
      'test/cli/next-commands-refused.test.ts',
      'of blame: a run that ends otherwise each time is no start',
    ],
    'to see the difference': [
      'test/cli/next-commands-refused.test.ts',
      'of blame: a run that ends otherwise each time is no start',
    ],
    'to count them anyway': [
      'test/cli/next-commands.test.ts',
      'with a mistyped name comes to the verdict, and from there to the test and to what else was necessary',
    ],
  },
  'src/blame/grade-task.ts': {
    'name a good run': ['test/cli/patch.test.ts', 'what was perhaps mistyped is said with the line that works'],
    ...Object.fromEntries(
      ['to pay for grades, with a limit', 'or grade by a call that is right'].map((about) => [
        about,
        [
          'test/cli/fork.test.ts',
          'pays the calls of a function that asks a model from its budget, which has to be allowed, and says what they were',
        ] as const,
      ]),
    ),
    'or go on without one': ['test/cli/patch.test.ts', 'what was perhaps mistyped is said with the line that works'],
    'or run the tools again, with their side effects': [
      'test/cli/next-commands-refused.test.ts',
      'of blame: where no model is asked, a good run shows which answer decided',
    ],
  },
  'src/blame/grading.ts': {
    'to grade every run five times and count the majority': [
      'test/cli/next-commands.test.ts',
      'with an oracle that disagrees with itself, or a run that went well, comes to what can be asked',
    ],
  },
  'src/blame/known-names.ts': {
    'if a right run has the other type': [
      'test/cli/next-commands-free.test.ts',
      'of blame: what was typed wrong, what no run knows, what it costs, where good answers are',
    ],
    'did you mean': [
      'test/cli/next-commands.test.ts',
      'with a mistyped name comes to the verdict, and from there to the test and to what else was necessary',
    ],
    'if a run is right that returns it': [
      'test/cli/next-commands-free.test.ts',
      'of blame: what was typed wrong, what no run knows, what it costs, where good answers are',
    ],
    'if a run is wrong that returns it': [
      'test/cli/next-commands-free.test.ts',
      'of blame: what was typed wrong, what no run knows, what it costs, where good answers are',
    ],
    'if the agent knows such': ['test/cli/patch.test.ts', 'what was perhaps mistyped is said with the line that works'],
    'if the tool was never called, or only the fixed agent has it': [
      'test/cli/next-commands.test.ts',
      'with a mistyped name comes to the verdict, and from there to the test and to what else was necessary',
    ],
    'if only the fixed agent has it': [
      'test/cli/next-commands-free.test.ts',
      'of blame: what was typed wrong, what no run knows, what it costs, where good answers are',
    ],
  },
  'src/blame/ledger-lock.ts': {
    'once it has ended, to go on with its forks': [
      'test/cli/blame.test.ts',
      'a second blame of the tape is refused while one runs; one that was killed locks nothing',
    ],
    'once it has ended, to go on with its runs': [
      'test/cli/fix-at-once.test.ts',
      'a second fix of the case is refused while one runs, before it asks a model; one that was killed locks nothing',
    ],
  },
  'src/blame/mutations.ts': {
    'to see what the run holds': [
      'test/cli/next-commands-refused.test.ts',
      'of blame: a run that has nothing to resample, to change or to repair costs nothing',
    ],
    'to resample steps instead, and see first what that costs': [
      'test/cli/next-commands-refused.test.ts',
      'of blame: a run that has nothing to resample, to change or to repair costs nothing',
    ],
  },
  'src/blame/named-oracle.ts': {
    'or on the command line': [
      'test/cli/next-commands-refused.test.ts',
      'of blame: nobody said what is right, or named a function that is not there',
    ],
    'name one that it has': [
      'test/cli/next-commands-refused.test.ts',
      'of blame: nobody said what is right, or named a function that is not there',
    ],
  },
  'src/blame/oracle.ts': {
    'to give it more time': again,
    'to find the answers it depends on': [
      'test/cli/next-commands.test.ts',
      'with an oracle that disagrees with itself, or a run that went well, comes to what can be asked',
    ],
  },
  'src/blame/outside.ts': {
    'to resample steps instead, and see first what that costs': [
      'test/cli/next-commands-refused.test.ts',
      'of blame: a run that has nothing to resample, to change or to repair costs nothing',
    ],
    'name a passing run of the same kind': fromCode,
  },
  'src/blame/run-blame.ts': {
    'name a good run': fromCode,
  },
  'src/blame/settings.ts': {
    'to see what the run holds': [
      'test/cli/next-commands-refused.test.ts',
      'of blame: a run that has nothing to resample, to change or to repair costs nothing',
    ],
  },
  'src/blame/ways-to-name.ts': {
    'if what it did was bad': [
      'test/cli/next-commands.test.ts',
      'with an oracle that disagrees with itself, or a run that went well, comes to what can be asked',
    ],
    'to say what would be right': ['test/cli/fix.test.ts', 'does not guess what a good run is'],
  },
  'src/cli/blame/foreseen.ts': {
    'record a good run of the agent and name it': [
      'test/cli/next-commands-free.test.ts',
      'of blame: what was typed wrong, what no run knows, what it costs, where good answers are',
    ],
    'to take the answers of a good run': [
      'test/cli/next-commands.test.ts',
      'with runs that would leave the tape is told so before anything is spent, and how they are graded',
    ],
    'to call the tools for real, with all they do': [
      'test/cli/next-commands.test.ts',
      'with runs that would leave the tape is told so before anything is spent, and how they are graded',
    ],
  },
  'src/cli/blame/isolated.ts': {
    'once runs can be graded': [
      'test/cli/isolate.test.ts',
      'runs of which an oracle cannot say anything are made again once it can',
    ],
    'to look for a larger effect, which fewer runs show': [
      'test/cli/isolate.test.ts',
      'an effect that is too small leads to a larger one, and runs that nobody could grade to new ones',
    ],
    'to run tools for real, with their side effects': [
      'test/cli/isolate.test.ts',
      'prints each arm with its interval and cost, and asks before tools run for real',
    ],
    'to see what the code depends on': ['test/cli/isolate.test.ts', 'names %s, and the next command works'],
    'to find the decision': ['test/cli/isolate.test.ts', 'names %s, and the next command works'],
    'to find the answer': ['test/cli/isolate.test.ts', 'names %s, and the next command works'],
    'to find the delay': ['test/cli/isolate.test.ts', 'names %s, and the next command works'],
    'to see whether the date decides, with another one': {
      because: 'it is a fork with another clock, as docs/fork.md types it',
    },
  },
  'src/cli/blame/to-models.ts': {
    'once the service answers': again,
    'if the model needs more time': [
      'test/cli/next-at-once.test.ts',
      'a model that does not answer in time: more time',
    ],
  },
  'src/cli/blame/verdict.ts': {
    'to see what a run that passes does': [
      'test/cli/next-commands-refused.test.ts',
      'of blame: where no model is asked, a good run shows which answer decided',
    ],
    'to tell the two apart, name a good run': [
      'test/cli/next-commands-refused.test.ts',
      'of blame: where no model is asked, a good run shows which answer decided',
    ],
    'or name a good run that meets it': [
      'test/cli/next-commands-refused.test.ts',
      'of blame: where no model is asked, a good run shows which answer decided',
    ],
    'to take such runs for bad': again,
    'to find whether an earlier recorded answer was necessary too': [
      'test/cli/next-commands.test.ts',
      'with a mistyped name comes to the verdict, and from there to the test and to what else was necessary',
    ],
    'to find which recorded answers decided': [
      'test/cli/next-commands-refused.test.ts',
      'of blame: where no model is asked, a good run shows which answer decided',
    ],
    'to look for a smaller effect, with all runs so far': again,
    'to go on, with all runs so far': [
      'test/cli/next-commands-refused.test.ts',
      'of blame: a small effect is certified with more runs, and those so far count',
    ],
    'to find what makes the agent diverge from its tape': [
      'test/cli/next-commands-refused.test.ts',
      'of blame: forks that diverge from their tape lead to doctor, and to runs one at a time',
    ],
    'if runs that are under way at once disturb each other': [
      'test/cli/next-commands-refused.test.ts',
      'of blame: forks that diverge from their tape lead to doctor, and to runs one at a time',
    ],
    'to grade runs by a call that is right': [
      'test/cli/next-commands-refused.test.ts',
      'of blame: too many forks leave the tape, and a call, a good run or real tools grade them',
    ],
    ...Object.fromEntries(
      ['to answer tools from a good run', 'to answer tools as well, name a good run that made such calls'].map(
        (about) => [
          about,
          [
            'test/cli/next-commands-refused.test.ts',
            'of blame: too many forks leave the tape, and a call, a good run or real tools grade them',
          ] as const,
        ],
      ),
    ),
    'to call tools for real, with their side effects': [
      'test/cli/next-commands-refused.test.ts',
      'of blame: too many forks leave the tape, and a call, a good run or real tools grade them',
    ],
  },
  'src/cli/commands/blame.ts': {
    'to estimate the cost, for free': [
      'test/cli/next-commands.test.ts',
      'with a mistyped name comes to the verdict, and from there to the test and to what else was necessary',
    ],
    'if what it reads is not as it was': again,
    'if one of them leads to other answers': again,
  },
  'src/cli/commands/chaos.ts': {
    'to try them alone': [
      'test/cli/chaos.test.ts',
      'names a fault that no schedule held, and the command that tries it',
    ],
    'did you mean': [
      'test/cli/chaos.test.ts',
      'a mistyped ending or tool leads to the command with the one that was meant',
    ],
    'to try other schedules': again,
    'to see it again': [
      'test/cli/chaos.test.ts',
      'shrinks a failure to the fault it needs, and tells how to see it again',
    ],
    'to ask the models, with tools run for real, side effects and all': [
      'test/cli/next-commands.test.ts',
      'of chaos: a changed result that a model was told of is no survival, and leads to the models',
    ],
  },
  'src/cli/commands/fix.ts': {
    'once the environment is as it was when recorded': [
      'test/cli/fix.test.ts',
      'a variable of the environment that helps is no fix: code without it asks the same',
    ],
    'to write it': [
      'test/cli/fix.test.ts',
      'shows the case green with the fix and red without it, and only then writes it',
    ],
    'to ask them': ['test/cli/fix.test.ts', 'does not guess what a good run is'],
    'on a developer machine': again,
    'to allow it here': [
      'test/cli/fix.test.ts',
      'shows the case green with the fix and red without it, and only then writes it',
    ],
    'to commit it, together with the fix': others,
    'then, with new runs': [
      'test/cli/fix.test.ts',
      'shows the case green with the fix and red without it, and only then writes it',
    ],
    'to name code without the fix': [
      'test/cli/fix.test.ts',
      'a fix that needs no model asks none, and one that is green without the fix is not written',
    ],
    'to skip this check': [
      'test/cli/fix.test.ts',
      'a fix that needs no model asks none, and one that is green without the fix is not written',
    ],
  },
  'src/cli/commands/fork.ts': {
    'to go on with the answers of another run, which was tried': [
      'test/cli/fork.test.ts',
      'a fork that leaves its tape goes on with the answers of another run where one leads it to its end, which was tried',
    ],
    'to grade runs by what is right': [
      'test/cli/ungraded.test.ts',
      'of a case that only says what is bad, each other decision counts, and what is right can be said',
    ],
    'to run its tools for real, with their side effects, and ask the models': [
      'test/cli/next-commands-refused.test.ts',
      'of fork: a call that nobody answered, a branch that is kept, a step that is not there',
    ],
    'to continue with live models': [
      'test/cli/next-commands.test.ts',
      'of fork: a mistyped question is refused for free, and what leaves the tape is judged with tools that run',
    ],
    'if they decide on other calls, with tools run for real, side effects and all': [
      'test/cli/next-at-once.test.ts',
      'a fork whose decision was edited needs models and tools: both are said at once, and that is judged',
    ],
    'to run tools for real, with their side effects': [
      'test/cli/next-commands.test.ts',
      'of fork: a mistyped question is refused for free, and what leaves the tape is judged with tools that run',
    ],
    'to judge those that leave the tape, with models asked and tools run for real, side effects and all': [
      'test/cli/next-commands.test.ts',
      'of fork: a mistyped question is refused for free, and what leaves the tape is judged with tools that run',
    ],
  },
  'src/cli/commands/patch.ts': {
    'to continue with live models': [
      'test/cli/patch.test.ts',
      'from undecided the printed commands lead to live models, refused for other code, and to how often it survives',
    ],
    'to run tools for real, with their side effects': [
      'test/cli/patch.test.ts',
      'live runs of which many leave the tape are no rate, and the printed command runs their tools too',
    ],
    'to keep the run up to it, with this change': [
      'test/cli/patch.test.ts',
      'what a model said is not changed where models are asked for real: the printed fork keeps the run up to it',
    ],
  },
  'src/cli/doctor/print.ts': {
    'to examine these too, once that is changed': again,
    'to see the difference': [
      'test/cli/control.test.ts',
      'the doctor blames no variable for what the code does, and sends on to what shows it',
    ],
    'to make a case of the newest tape': [
      'test/cli/next-commands-free.test.ts',
      'of doctor: the newest tape becomes a case, and a first run is missing where there is none',
    ],
  },
  'src/cli/doctor/set-up.ts': {
    'npm install --save-dev vitest@latest': others,
    'npm install --save-dev vitest': others,
    'git init': others,
    'git status': others,
  },
  'src/cli/finer-answer.ts': {
    'for a finer answer, with more runs': [
      'test/cli/fix.test.ts',
      'a prompt that changes nothing is no fix where its model was right by chance: it is right as asked before, too',
    ],
  },
  'src/cli/fixing/shown.ts': {
    'name another one': {
      because: 'a commit without the folder counts as one before `init`: fix tells that in words of its own',
    },
  },
  'src/cli/fixing/to-answer.ts': {
    'or with its tools run for real, side effects and all': [
      'test/cli/fix.test.ts',
      'a fix that calls a tool otherwise is asked with functions for its tools, or with the tools themselves',
    ],
    'to run its tools for real, with their side effects': [
      'test/cli/fix.test.ts',
      'calls a run that needs an answer nobody has ungraded, and names who may give it',
    ],
    'to ask them': [
      'test/cli/fix.test.ts',
      'a fix that calls a tool otherwise is asked with functions for its tools, or with the tools themselves',
    ],
    'to answer its new calls': [
      'test/cli/fix.test.ts',
      'calls a run that needs an answer nobody has ungraded, and names who may give it',
    ],
    'or answered from another run': [
      'test/cli/fix-refused.test.ts',
      'a fix whose code makes another call says before it asks a model what nothing answers that was given',
    ],
    'to answer them from another run': [
      'test/cli/fix-refused.test.ts',
      'a fix offers another run only where that answers the refused call, and never the one that is given',
    ],
  },
  'src/cli/fixing/choose.ts': {
    'to write it although it is not shown': [
      'test/cli/fix.test.ts',
      'a prompt that changes nothing is no fix where its model was right by chance: it is right as asked before, too',
    ],
    'once you looked at the runs above and fixed the agent further': [
      'test/cli/fix.test.ts',
      'a fix that needs no model asks none, and one that is green without the fix is not written',
    ],
  },
  'src/cli/forking/ask.ts': {
    'did you mean live models': [
      'test/cli/next-at-once.test.ts',
      'who may go on is mistyped: it is an invalid option, with the nearest one as the whole command',
    ],
    'did you mean tape': [
      'test/cli/next-at-once.test.ts',
      'who may go on is mistyped: it is an invalid option, with the nearest one as the whole command',
    ],
    'to see the runs': [
      'test/cli/next-at-once.test.ts',
      'who may go on is mistyped: it is an invalid option, with the nearest one as the whole command',
    ],
    'to see them': [
      'test/cli/next-commands-free.test.ts',
      'of fork and patch: steps, names and answers that the tape does not have',
    ],
    'did you mean': [
      'test/cli/next-commands-free.test.ts',
      'of fork and patch: steps, names and answers that the tape does not have',
    ],
  },
  'src/cli/forking/changes.ts': {
    'did you mean': ['test/cli/patch.test.ts', 'what was perhaps mistyped is said with the line that works'],
  },
  'src/cli/forking/print.ts': {
    'to read it': [
      'test/cli/fork.test.ts',
      '--save keeps the branch as a tape, which shows and differs like any other',
    ],
    'to make a case of it': [
      'test/cli/next-commands-refused.test.ts',
      'of fork: a call that nobody answered, a branch that is kept, a step that is not there',
    ],
    'to put the run of a fixed agent in the place of its incident': [
      'test/cli/fork.test.ts',
      '--save keeps the branch as a tape, which shows and differs like any other',
    ],
    'to run': ['test/cli/fork.test.ts', '--fresh runs it all the same'],
  },
  'src/cli/forking/step-hint.ts': {
    'to see the steps': [
      'test/cli/next-commands-free.test.ts',
      'what is refused of a command line leads on with the tape that was typed, and with nothing else in its place',
    ],
    'with one of them': [
      'test/cli/next-commands-free.test.ts',
      'what is refused of a command line leads on with the tape that was typed, and with nothing else in its place',
    ],
  },
  'src/cli/live-grading.ts': {
    'to pay for grades, with a limit': [
      'test/cli/ungraded.test.ts',
      'no model is asked for one with --max-cost 0: %s %s %s',
    ],
    'or grade by a call that is right': [
      'test/cli/ungraded.test.ts',
      'no model is asked for one with --max-cost 0: %s %s %s',
    ],
  },
  'src/cli/live.ts': {
    'to confirm': [
      'test/cli/next-commands-free.test.ts',
      'what is refused of a command line leads on with the tape that was typed, and with nothing else in its place',
    ],
    'to confirm, with a limit': [
      'test/cli/next-commands.test.ts',
      'with a model without a price, a limit that was reached and code that changed comes to the verdict',
    ],
    'to confirm, with the default limit of $': [
      'test/cli/next-commands.test.ts',
      'with a model without a price, a limit that was reached and code that changed comes to the verdict',
    ],
  },
  'src/cli/next-steps.ts': {
    'to find one by its words': ['test/docs/incidents.ts', ''],
    'to see those that failed': ['test/docs/incidents.ts', ''],
    'to read it': ['test/docs/incidents.ts', ''],
    'to read one': ['test/docs/incidents.ts', ''],
    'if it went wrong, a test before it is fixed': ['test/docs/incidents.ts', ''],
    'if it went right, a test': [
      'test/cli/next-commands-refused.test.ts',
      'of fork: a call that nobody answered, a branch that is kept, a step that is not there',
    ],
    'to see which step decided': ['test/docs/incidents.ts', ''],
    'when the agent is fixed': ['test/docs/incidents.ts', ''],
    'to make it a test, before it is fixed': [
      'test/cli/outcome.test.ts',
      "is graded alike by blame and fork, as today's code ends it, and what blame prints behind its verdict makes a case",
    ],
    'to ask the models all the same': [
      'test/cli/next-commands-refused.test.ts',
      'of blame: too many forks leave the tape, and a call, a good run or real tools grade them',
    ],
    'to ask the models': [
      'test/cli/next-commands.test.ts',
      'with a mistyped name comes to the verdict, and from there to the test and to what else was necessary',
    ],
    'to estimate the cost': [
      'test/cli/next-commands.test.ts',
      'with a mistyped name comes to the verdict, and from there to the test and to what else was necessary',
    ],
    'to go on, with all runs so far': [
      'test/cli/next-commands.test.ts',
      'with a model without a price, a limit that was reached and code that changed comes to the verdict',
    ],
  },
  'src/errors/budget-spent.ts': {
    'to see what the run did': [
      'test/cli/next-commands-free.test.ts',
      'the budget of a recorder names the run that it ended, and a run that is elsewhere asks for its folder',
    ],
  },
  'src/fork/compile.ts': {
    'to see the steps': fromCode,
    'to see them': [
      'test/cli/next-commands-refused.test.ts',
      'of fork: a call that nobody answered, a branch that is kept, a step that is not there',
    ],
  },
  'src/fork/control-refusal.ts': {
    'with more time': [
      'test/cli/next-at-once.test.ts',
      'an unchanged run that takes longer than one run may: more time',
    ],
    'to run': [
      'test/cli/next-commands-free.test.ts',
      'of blame and replay: an agent that was named and did not make the run leads to the one that did',
    ],
    'if its agent is fixed': [
      'test/cli/rerun.test.ts',
      'a known-bad case of a fixed agent leads to its fix: no step of other code can be blamed',
    ],
    'to see the difference': [
      'test/cli/control.test.ts',
      'a case that is different beside its question is neither proven nor accepted: one update takes both',
    ],
    'if both are intended': [
      'test/cli/control.test.ts',
      'a case that is different beside its question is neither proven nor accepted: one update takes both',
    ],
    'to see the whole difference': [
      'test/cli/next-commands-refused.test.ts',
      'of a control: a question that changed is made a case and accepted, or asked, and a change of the way is shown',
    ],
    'once its key and environment are right': [
      'test/cli/fork.test.ts',
      'an agent that throws before it asks anything, as without its key, says nothing and is not kept',
    ],
    'if its code did not change, to find what its runs depend on': [
      'test/cli/control.test.ts',
      'a variable that decides what the agent does leads to the doctor, which names its line',
    ],
    'if the change is intended': [
      'test/cli/control.test.ts',
      'a question that nobody accepted is refused, and the printed command makes the next one work',
    ],
    'to ask the model': [
      'test/cli/next-commands-refused.test.ts',
      'of a control: a question that changed is made a case and accepted, or asked, and a change of the way is shown',
    ],
  },
  'src/fork/decide.ts': {
    'models decide at': ['test/cli/fork.test.ts', 'a decision on the answer of a tool leads to the step of its model'],
  },
  'src/fork/edits.ts': {
    'to let the model say something else': [
      'test/cli/next-commands-free.test.ts',
      'of fork and patch: an answer that cannot be edited like this is replaced as a whole',
    ],
    'to let it call a tool': [
      'test/cli/next-commands-free.test.ts',
      'of fork and patch: an answer that cannot be edited like this is replaced as a whole',
    ],
    'to replace all of it': [
      'test/cli/next-commands-free.test.ts',
      'of fork and patch: an answer that cannot be edited like this is replaced as a whole',
    ],
    'to give the call an answer': [
      'test/cli/next-commands-free.test.ts',
      'of fork and patch: an answer that cannot be edited like this is replaced as a whole',
    ],
    'to see which steps have one': [
      'test/cli/next-commands-free.test.ts',
      'of fork and patch: an answer that cannot be edited like this is replaced as a whole',
    ],
    'to see it': [
      'test/cli/next-commands-free.test.ts',
      'of fork and patch: steps, names and answers that the tape does not have',
    ],
  },
  'src/fork/fork-task.ts': {
    'to see what this agent does differently': [
      'test/cli/next-at-once.test.ts',
      'another agent that goes on is the one that is looked at',
    ],
    'to let it go on where it differs': [
      'test/cli/next-at-once.test.ts',
      'another agent that goes on is the one that is looked at',
    ],
    'once its key and environment are right': again,
  },
  'src/fork/kept-state.ts': {
    'to find what its runs depend on': [
      'test/cli/isolate.test.ts',
      'blames no layer for what an agent keeps from run to run: it says where, and doctor names the line',
    ],
  },
  'src/fork/patch.ts': {
    'such as an error of the server': [
      'test/cli/patch.test.ts',
      'what was perhaps mistyped is said with the line that works',
    ],
    'to see them': [
      'test/cli/next-commands-free.test.ts',
      'of fork and patch: steps, names and answers that the tape does not have',
    ],
    'to see its events': [
      'test/cli/next-commands-free.test.ts',
      'of fork and patch: an answer that cannot be edited like this is replaced as a whole',
    ],
    'to set all of it': [
      'test/cli/next-commands-free.test.ts',
      'of fork and patch: an answer that cannot be edited like this is replaced as a whole',
    ],
    'did you mean': [
      'test/cli/next-commands.test.ts',
      'of fork: a mistyped question is refused for free, and what leaves the tape is judged with tools that run',
    ],
    'if it is in the answer of a step': [
      'test/cli/next-commands-free.test.ts',
      'of fork and patch: steps, names and answers that the tape does not have',
    ],
    'to see where a value is recorded': [
      'test/cli/next-commands-free.test.ts',
      'of fork and patch: steps, names and answers that the tape does not have',
    ],
  },
  'src/fork/prefix.ts': {
    'to see what the agent does differently': fromCode,
  },
  'src/jobs/run.ts': {
    'to go on': ['test/cli/blame.test.ts', 'asks no model any more once %s ended it'],
    'to begin again': [
      'test/cli/rerun.test.ts',
      'Ctrl-C prints the rates and costs of the runs that ended until then, and that none of them is kept',
    ],
    'check that the tests run': others,
    'to give it more time': ['test/cli/blocked.test.ts', 'is ended with its worker behind --timeout, and that is said'],
  },
  'src/live/budget.ts': {
    'or limit something else': [
      'test/cli/next-commands.test.ts',
      'with a model without a price, a limit that was reached and code that changed comes to the verdict',
    ],
  },
  'src/live/live.ts': {
    'to give it more time': ['test/cli/rerun.test.ts', 'a run that took too long leads to more time'],
  },
  'src/live/off-tape.ts': {
    'if runs may reach it': again,
  },
  'src/provenance/changes.ts': {
    'once the accepted code is committed': [
      'test/cli/control.test.ts',
      'a live run is refused for the code that was accepted, not for the recorded one, until that is committed',
    ],
    'to continue anyway, with both versions in the result': [
      'test/cli/next-commands.test.ts',
      'with a model without a price, a limit that was reached and code that changed comes to the verdict',
    ],
  },
}

/** Errors that name nothing to type, by file: what helps is another text, code or setting. */
export const advice: Readonly<Record<string, readonly string[]>> = {
  'src/blame/blame.ts': ['HARVEST_BLAME_LIMITS'],
  'src/blame/choose-oracle.ts': ['HARVEST_ORACLE_CONFLICT'],
  'src/blame/graded-use.ts': ['HARVEST_BUDGET_USED'],
  'src/blame/oracle.ts': ['HARVEST_ORACLE_THREW', 'HARVEST_ORACLE_ANSWER'],
  'src/blame/run-blame.ts': ['HARVEST_BLAME_PROGRAM'],
  'src/blame/stand-ins.ts': ['HARVEST_FORK_TOOLS'],
  'src/cli/forking/changes.ts': ['HARVEST_FORK_EDIT'],
  'src/cli/live-grading.ts': ['HARVEST_FORK_TOOLS'],
  'src/fork/ask-budget.ts': ['HARVEST_BUDGET_ASK'],
  'src/fork/fork-task.ts': ['HARVEST_FORK_SCRIPT'],
  'src/fork/json-patch.ts': ['HARVEST_FORK_PATCH'],
  'src/fork/scripted.ts': ['HARVEST_FORK_SCRIPT'],
  'src/live/budget.ts': ['HARVEST_BUDGET_USED'],
  'src/live/off-tape.ts': ['HARVEST_NOT_RECORDED'],
  'src/live/reserved-run.ts': ['HARVEST_BUDGET_USED'],
}
