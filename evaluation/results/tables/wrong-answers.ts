import { createStyles } from '../../terminal/print.ts';
import { count, toOneLine } from '../../terminal/table.ts';

/** Wrong answers shown on a terminal; the page and the results file have all of them. */
const SHOWN = 5;
const COLUMNS = 80;
const MIN_LABEL = 8;

interface Miss {
  readonly id: string;
  readonly question: string;
  readonly truth: string;
  /** Wrong answers by team. */
  readonly answers: readonly (readonly [team: string, answer: string])[];
}

/** Collects wrong answers and keeps the first of them for display. */
export class WrongAnswers {
  readonly #first: Miss[] = [];
  #answers = 0;
  #questions = 0;

  /** Adds a question's wrong answers. */
  add(question: Omit<Miss, 'answers'>, answers: Miss['answers']): void {
    if (answers.length === 0) return;
    this.#questions += 1;
    this.#answers += answers.length;
    if (this.#first.length < SHOWN) this.#first.push({ ...question, answers });
  }

  /** Returns lines of at most 80 columns; none if nothing was wrong. */
  lines(): string[] {
    if (this.#answers === 0) return [];
    const { bold, red } = createStyles(process.stdout);
    const shown = this.#first.length;
    const isOne = this.#first.every(({ answers }) => answers.length === 1);
    const what = isOne
      ? count(this.#answers)
      : `${count(this.#answers)} to ${count(this.#questions)} questions`;
    const labels = [
      'question',
      ...(isOne ? [] : this.#first.flatMap(({ answers }) => answers.map(([team]) => team))),
    ];
    const width = Math.max(MIN_LABEL, ...labels.map((label) => toOneLine(label, 14).length)) + 2;
    const line = (label: string, text: string, style = (all: string) => all) =>
      `    ${toOneLine(label, 14).padEnd(width)}${style(toOneLine(text, COLUMNS - 4 - width))}`;
    return [
      `${bold('Wrong answers')}: ${what}${this.#questions > shown ? `; the first ${shown}:` : ''}`,
      ...this.#first.flatMap(({ id, question, truth, answers }) => [
        `  ${toOneLine(id, COLUMNS - 2)}`,
        line('question', question),
        line('truth', truth),
        ...answers.map(([team, answer]) => line(isOne ? 'answer' : team, answer, red)),
      ]),
      '',
    ];
  }
}
