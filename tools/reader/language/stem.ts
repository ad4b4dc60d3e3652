import { stemmer } from 'stemmer';

// Irregular forms that no suffix rule joins; only the frequent ones, as the rest would not pay for themselves.
const IRREGULAR = new Map(
  (
    'wrote:write written:write writing:write won:win winning:win born:birth began:begin begun:begin became:become ' +
    'led:lead made:make took:take taken:take gave:give given:give went:go gone:go held:hold built:build sang:sing ' +
    'sung:sing song:sing songs:sing founded:found founder:found founding:found died:die death:die dying:die dead:die ' +
    'fought:fight sold:sell bought:buy met:meet left:leave lost:lose sent:send spent:spend taught:teach thought:think ' +
    'told:tell wore:wear grew:grow grown:grow knew:know known:know chose:choose chosen:choose fell:fall fallen:fall ' +
    'rose:rise risen:rise drew:draw drawn:draw drove:drive driven:drive ran:run running:run spoke:speak spoken:speak ' +
    'came:come saw:see seen:see said:say says:say paid:pay kept:keep brought:bring caught:catch children:child ' +
    'men:man women:woman people:person feet:foot teeth:tooth author:write writer:write winner:win leader:lead ' +
    'singer:sing player:play actor:act actress:act'
  )
    .split(' ')
    .map((pair): [string, string] => {
      const [form = '', base = ''] = pair.split(':');
      return [form, base];
    }),
);

/**
 * Matches words for which the package has rules that Porter published later, for -logi and -bli. The weights were trained
 * with those of 1980.
 */
const LATER_RULES = /(?:log|[^a]bl)(?:y|ies)$/;

/**
 * Returns the stem of an English word, by Porter's algorithm. Numbers and words outside a-z are returned unchanged: a
 * stemmed "1934" would match other years.
 */
export function stemWord(lower: string): string {
  const irregular = IRREGULAR.get(lower);
  if (irregular !== undefined) return irregular;
  if (lower.length < 3 || lower.length > 30 || !/^[a-z]+$/.test(lower)) return lower;
  return LATER_RULES.test(lower) ? lower.replace(/(?:y|ies)$/, 'i') : stemmer(lower);
}
