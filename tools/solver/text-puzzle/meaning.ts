import type { Puzzle } from '../text-puzzle.ts';

const OPPOSITES =
  'hot:cold left:right up:down in:out on:off big:small large:small long:short tall:short high:low light:dark black:white day:night ' +
  'good:bad new:old young:old rich:poor fast:slow early:late open:closed true:false yes:no first:last begin:end start:finish win:lose ' +
  'full:empty wet:dry hard:soft heavy:light near:far wide:narrow thick:thin strong:weak loud:quiet clean:dirty happy:sad love:hate ' +
  'push:pull buy:sell give:take north:south east:west summer:winter above:below inside:outside front:back top:bottom before:after ' +
  'always:never everything:nothing easy:difficult sweet:sour sharp:blunt warm:cool deep:shallow brave:cowardly ancient:modern alive:dead ' +
  'asleep:awake enemy:friend entrance:exit future:past guilty:innocent inner:outer major:minor maximum:minimum more:less odd:even ' +
  'positive:negative private:public rise:fall rough:smooth same:different safe:dangerous single:married success:failure tight:loose ' +
  'victory:defeat war:peace wild:tame accept:refuse arrive:depart remember:forget';

const opposites = new Map<string, string>();
for (const pair of OPPOSITES.split(' ')) {
  const [one = '', other = ''] = pair.split(':');
  // Of a word that stands in two pairs, the first is the usual one.
  if (!opposites.has(one)) opposites.set(one, other);
  if (!opposites.has(other)) opposites.set(other, one);
}

/** The opposite of a common word: the one kind of puzzle here that needs to know what words mean. */
export function readMeaning(question: string): Puzzle | undefined {
  const word = /\b(?:opposite|antonym) (?:of|to|for)\s+(?:the (?:word|term)\s+)?["“'‘]?(\p{L}+)/iu
    .exec(question)?.[1]
    ?.toLowerCase();
  const answer = word === undefined ? undefined : opposites.get(word);
  return answer === undefined ? undefined : { why: `The opposite of ${word} is ${answer}.`, answer };
}
