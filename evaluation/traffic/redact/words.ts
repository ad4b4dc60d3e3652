/**
 * Words that stand in for texts. Each is one token of the o200k_base encoding with the space in front (a test looks), so that a text of
 * any number of tokens and bytes can be put together from them.
 */
const WORDS =
  'a be do go he if in it me my no of on or so to up us we all and any are ask bad big buy can car day did end far few for get got had ' +
  'has her him his how its let low man may new not now off old one our out own pay put run saw say see she sit ten the too top try two use ' +
  'was way who why win yes yet you able area away back base best body book both call care case city cost data deal door down each easy ' +
  'even ever face fact fair fall farm fast feel file find fine fire five food foot form free full game girl give goal good grow half hand ' +
  'hard have head hear help here high hold home hope hour idea keep kind know land last late lead left less life like line list live long ' +
  'look about above after again agree allow along among apply avoid basic begin black board break bring build carry catch cause chair check ' +
  'child claim class clear close color could court cover cross dream drive early earth eight enemy enjoy enter event every exist field fight ' +
  'final first floor focus force front fully glass great green group guess happy heart heavy horse hotel house human image issue large laugh ' +
  'accept across action actual advice affect afford agency almost always amount animal annual answer anyone appeal appear around arrive artist ' +
  'aspect attack author avenue battle become before behind belief belong better beyond border bottom branch bridge budget camera career castle ' +
  'ability absence account achieve address advance against ancient another anybody arrange article attempt average balance because bedroom ' +
  'believe benefit between brother cabinet capital central century certain chapter charity climate collect company compare complex concept ' +
  'academic accident activity actually addition although analysis announce anything approach argument attitude audience behavior birthday ' +
  'boundary building business campaign category ceremony chairman champion chemical children collapse colonial complete computer consider ' +
  'according advantage afternoon agreement assistant beautiful beginning candidate certainly challenge character committee community ' +
  'completed condition confident construct continued corporate criticism currently dangerous dependent difficult direction discovery ' +
  'absolutely acceptable activities additional afterwards apparently atmosphere attraction automobile background calculated collection ' +
  'commercial commission commitment comparison complexity completely conclusion conference confidence connection considered constantly ' +
  'accompanied achievement acknowledge acquisition advertising alternative anniversary application appointment approximate arrangement ' +
  'association combination comfortable communicate competition competitive complicated composition conditional consequence ' +
  'accommodation administered alternatively characterized collaboration communication comprehensive concentration configuration consciousness ' +
  'consideration controversial determination';

/** The words by the length of their token: themselves and a space. */
export const wordsByLength: ReadonlyMap<number, readonly [string, ...string[]]> = new Map(
  [...Map.groupBy(WORDS.split(' '), ({ length }) => length + 1)].flatMap(([length, [first, ...others]]) =>
    first === undefined ? [] : [[length, [first, ...others] as const] as const],
  ),
);

export const allWords: readonly string[] = WORDS.split(' ');
